// Plays each film of the page: the place of the disk's head, what waits in the queue of each group,
// and whose turn it was.
(() => {
  'use strict';
  const NS = 'http://www.w3.org/2000/svg';
  const LINE = 24, LEFT = 130, BOX = 8, TRAIL = 24, TURNS = 12;
  const SPEEDS = [['1/1000', 0.001], ['1/100', 0.01], ['1/20', 0.05], ['1/4', 0.25], ['1', 1]];

  const element = (name, attributes, parent, text) => {
    const made = document.createElementNS(NS, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };
  const colour = (group) => `var(--g${group % 6})`;

  const start = (figure) => {
    const { groups, length_us: length, requests: rows } =
      JSON.parse(figure.querySelector('script.frames').textContent);
    const requests = rows.map(([group, write, place, asked, issued, done]) =>
      ({ group, write, place, asked, issued, done }));
    const shown = groups.map((_, group) => group)
      .filter((group) => requests.some((request) => request.group === group));
    const places = requests.map((request) => request.place);
    const low = Math.min(...places), high = Math.max(...places, low + 1e-9);
    const stage = figure.querySelector('.stage');
    let now = 0, last = null, speed = 0.05;

    const show = () => {
      const width = Math.max(300, stage.clientWidth);
      const right = width - 12, queues = 84, turns = queues + shown.length * LINE + 12;
      stage.replaceChildren();
      const svg = element('svg', { width, height: turns + 52, 'aria-hidden': true }, stage);
      const text = (x, y, words, more = {}) =>
        element('text', { x, y, fill: 'var(--text)', 'font-size': 12, ...more }, svg, words);
      const at = (place) => LEFT + (place - low) / (high - low) * (right - LEFT);
      const served = requests.filter((request) => request.issued <= now && now < request.done);
      const past = requests.filter((request) => request.done <= now && request.issued < request.done);

      text(0, 36, 'head');
      element('rect', { x: LEFT, y: 28, width: right - LEFT, height: 8, rx: 4,
        fill: 'var(--line)' }, svg);
      past.slice(-TRAIL).forEach((request, age, all) => element('rect', {
        x: at(request.place) - 1, y: 24, width: 2, height: 16,
        fill: colour(request.group), opacity: (age + 1) / all.length * 0.6,
      }, svg));
      const head = served[0] || past[past.length - 1];
      served.forEach((request) => element('circle', {
        cx: at(request.place), cy: 32, r: 6, fill: colour(request.group),
        stroke: 'var(--text)', 'stroke-width': request === head ? 2 : 0.5,
      }, svg));
      if (!served.length && head) {
        element('circle', { cx: at(head.place), cy: 32, r: 6, fill: 'none',
          stroke: 'var(--dim)', 'stroke-width': 2 }, svg);
      }
      text(LEFT, 60, `${low.toFixed(1)} GB`, { fill: 'var(--dim)' });
      text(right, 60, `${high.toFixed(1)} GB`, { fill: 'var(--dim)', 'text-anchor': 'end' });

      shown.forEach((group, line) => {
        const y = queues + line * LINE;
        const name = groups[group].length > 17 ? `${groups[group].slice(0, 16)}…` : groups[group];
        text(0, y + 10, name);
        const own = requests.filter((request) => request.group === group && request.asked <= now
          && now < request.done);
        const room = Math.floor((right - LEFT - 40) / (BOX + 2));
        own.sort((one, other) => one.issued - other.issued).slice(0, room)
          .forEach((request, place) => element('rect', {
            x: LEFT + place * (BOX + 2), y: y + 1, width: BOX, height: 12,
            fill: request.write ? 'none' : colour(group), stroke: colour(group),
            opacity: request.issued <= now ? 1 : 0.45, 'stroke-width': 2,
          }, svg));
        if (own.length > room) text(right, y + 11, `+${own.length - room}`, { 'text-anchor': 'end' });
      });

      const window = length / TURNS;
      const x = (time) => right - (now - time) / window * (right - LEFT);
      text(0, turns + 16, 'had the disk');
      requests.filter((request) => request.issued <= now && request.done > now - window)
        .forEach((request) => {
          const from = Math.max(LEFT, x(request.issued)), to = x(Math.min(now, request.done));
          element('rect', { x: from, y: turns + 4, width: Math.max(0.5, to - from), height: 16,
            fill: colour(request.group), opacity: 0.8 }, svg);
        });
      text(LEFT, turns + 40, `${(window / 1000).toFixed(0)} ms ago`, { fill: 'var(--dim)' });
      text(right, turns + 40, `${(now / 1000).toFixed(2)} ms`,
        { fill: 'var(--dim)', 'text-anchor': 'end' });
    };

    const controls = figure.querySelector('.controls');
    const button = document.createElement('button');
    const slider = Object.assign(document.createElement('input'),
      { type: 'range', min: 0, max: length, step: 'any', value: 0 });
    slider.setAttribute('aria-label', 'time');
    const select = document.createElement('select');
    select.setAttribute('aria-label', 'speed');
    SPEEDS.forEach(([name, value]) => select.add(new Option(`${name} of real time`, value)));
    select.value = speed;
    controls.append(button, slider, select);
    const play = (does) => {
      last = null;
      figure.dataset.plays = does ? 'yes' : '';
      button.textContent = does ? 'Pause' : 'Play';
      if (does) requestAnimationFrame(step);
    };
    const step = (time) => {
      if (!figure.dataset.plays) return;
      if (last !== null) now += (time - last) * 1000 * speed;
      last = time;
      if (now >= length) now = 0;
      slider.value = now;
      show();
      requestAnimationFrame(step);
    };
    button.addEventListener('click', () => play(!figure.dataset.plays));
    slider.addEventListener('input', () => { now = Number(slider.value); show(); });
    select.addEventListener('change', () => { speed = Number(select.value); });
    new ResizeObserver(show).observe(stage);
    now = length / 2;
    slider.value = now;
    show();
    play(false);
  };
  document.querySelectorAll('figure.film').forEach(start);
})();
