# Two of fio's latency logs, each sorted by latency: the share of each in all I/Os of the span in
# which both were running, and its latencies at the 50th and 99th percentile, in ms. Called with
# `lead`, seconds left out after the later start, and `seconds`, the span.

{
  group = FILENAME
  n = ++count[group]
  time[group, n] = $1
  latency[group, n] = $2 / 1e6
  if (n == 1) { order[++groups] = group; first[group] = last[group] = $1 }
  if ($1 < first[group]) first[group] = $1
  if ($1 > last[group]) last[group] = $1
}

END {
  if (groups != 2) exit
  for (g in first) {
    if (first[g] > begin) begin = first[g]
    if (!end || last[g] < end) end = last[g]
  }
  begin += lead * 1000
  if (end > begin + seconds * 1000) end = begin + seconds * 1000
  for (g in first) {
    for (n = 1; n <= count[g]; n++)
      if (time[g, n] > begin && time[g, n] <= end) inside[g, ++counted[g]] = latency[g, n]
    whole += counted[g]
  }
  if (!whole) exit
  for (at = 1; at <= 2; at++) {
    g = order[at]
    printf "%.1f %.0f %.0f ", 100 * counted[g] / whole, percentile(g, 0.5), percentile(g, 0.99)
  }
  printf "%.0f\n", 1000 * whole / (end - begin)
}

function percentile(g, p,    n) {
  n = int(p * counted[g] + 0.999)
  return inside[g, n > 0 ? n : 1]
}
