// Draws each chart of the page in the colours and the width that it has now, and again when these
// change. A chart is a figure with a Vega-Lite specification as JSON.
(() => {
  'use strict';
  const figures = [...document.querySelectorAll('figure.chart')];
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const NAMED = 6, SERIES_MAX = 60, NARROW = 560;
  // The least width of a name in a legend with its symbol, and that of the symbol and the gap.
  const LEGEND_ENTRY = 150, SYMBOL = 40;

  // The colours of the page, then hues as far apart as their number allows.
  const palette = () => {
    const named = Array.from({ length: NAMED }, (_, at) => colour(`g${at}`));
    const hue = (_, at) => `hsl(${Math.round((at + 1) * 137.5) % 360} 45% ${colour('shade')})`;
    return named.concat(Array.from({ length: SERIES_MAX - NAMED }, hue));
  };

  // The width of the longest name of a legend with its symbol, as far as the chart has room for it.
  const pen = document.createElement('canvas').getContext('2d');
  const legendEntry = (spec, width) => {
    const colours = [spec, ...(spec.layer ?? [])].map((layer) => layer.encoding?.color);
    const field = colours.find((of) => of?.type === 'nominal' && of.legend)?.field;
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const names = new Set(field ? spec.data.values.map((value) => value[field]) : []);
    const widths = [...names].map((name) => pen.measureText(name ?? '').width + SYMBOL);
    return Math.min(width - 20, Math.ceil(Math.max(LEGEND_ENTRY, ...widths)));
  };

  const config = (width, entry) => {
    const [text, dim, line] = ['text', 'dim', 'line'].map(colour);
    const narrow = width < NARROW;
    return {
      aria: false,
      background: null,
      font: getComputedStyle(document.body).fontFamily,
      view: { stroke: null },
      axis: {
        labelColor: text, titleColor: dim, gridColor: line, domainColor: line, tickColor: line,
        labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal',
        labelLimit: narrow ? 110 : 240, titleLimit: Math.max(80, width - 60),
      },
      axisX: { labelOverlap: 'greedy', labelSeparation: 8, tickCount: narrow ? 4 : 8 },
      axisY: { titleLimit: 160 },
      legend: {
        orient: 'top', direction: 'horizontal', title: null, symbolLimit: 0,
        columns: Math.max(1, Math.floor((width - 20) / entry)),
        labelLimit: entry - SYMBOL + 8, labelColor: text, labelFontSize: 12, titleColor: dim,
        symbolBaseFillColor: text, symbolBaseStrokeColor: text,
      },
      range: { category: palette() },
      style: {
        strong: { stroke: text, strokeWidth: 1.5, color: text },
        faint: { stroke: dim, strokeWidth: 1, color: dim },
        value: { color: text, fontSize: 12 },
      },
    };
  };

  // The values of what the pointer is on, a line each.
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  document.body.append(tip);
  const tooltip = (_, event, __, value) => {
    tip.hidden = value === null || value === undefined || value === '';
    if (tip.hidden) return;
    const lines = typeof value === 'object' ? Object.entries(value) : [['', value]];
    tip.textContent = lines.map(([name, of]) => (name ? `${name}: ${of}` : of)).join('\n');
    const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 6);
    const below = event.clientY + 14;
    const fits = below + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${Math.max(6, left)}px`;
    tip.style.top = `${fits ? below : Math.max(6, event.clientY - tip.offsetHeight - 8)}px`;
  };

  const draw = async (figure) => {
    const plot = figure.querySelector('.plot');
    const width = plot.clientWidth;
    if (width === 0) return;
    // Colours of the page stand in a specification as they do in a style sheet.
    const text = figure.querySelector('script.spec').textContent;
    const spec = JSON.parse(text, (_, of) => {
      const name = typeof of === 'string' && /^var\(--(\w+)\)$/.exec(of);
      return name ? colour(name[1]) : of;
    });
    spec.width = width;
    spec.autosize = { type: 'fit-x', contains: 'padding' };
    // It warns that the height is that of the lines, which is wanted.
    const logger = vega.logger(vega.Error);
    const look = config(width, legendEntry(spec, width));
    const made = vegaLite.compile(spec, { config: look, logger }).spec;
    plot.view?.finalize();
    plot.replaceChildren();
    plot.view = new vega.View(vega.parse(made), {
      renderer: 'svg', container: plot, hover: true, tooltip,
    });
    await plot.view.runAsync();
    plot.drawn = width;
  };

  let drawing = Promise.resolve();
  const drawAll = (which) => {
    drawing = drawing.then(async () => {
      delete root.dataset.drawn;
      for (const figure of figures.filter(which)) {
        try {
          await draw(figure);
        } catch (error) {
          console.error(`${figure.querySelector('figcaption').textContent}: ${error}`);
        }
      }
      root.dataset.drawn = 'yes';
    });
  };
  const isStale = (figure) => {
    const plot = figure.querySelector('.plot');
    return plot.clientWidth !== 0 && plot.clientWidth !== plot.drawn;
  };
  let wait;
  const seeWidth = new ResizeObserver(() => {
    clearTimeout(wait);
    wait = setTimeout(() => figures.some(isStale) && drawAll(isStale), 100);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawAll(() => true));
  drawAll(() => true);
  figures.forEach((figure) => seeWidth.observe(figure));
})();
