# Turns of several arms beside each other (round, column, arm, milliseconds, I/Os, ticks of the
# processor): rates, ratios to the bare file and to the fastest arm without a scheduler, CPU time.
# Ratios are medians over the rounds; an interval holds the median in 95 of 100 such runs, or is the
# range where fewer than six rounds cannot say.

{
  rate[$3, $2, $1] = $4 > 0 ? $5 * 1000 / $4 : 0
  ios[$3, $2] += $5
  ticks[$3, $2] += $6
  if ($1 >= rounds) rounds = $1 + 1
}

# The values a[1] to a[n] in order.
function sort(a, n,    i, j, value) {
  for (i = 2; i <= n; i++) {
    value = a[i]
    for (j = i - 1; j > 0 && a[j] > value; j--) a[j + 1] = a[j]
    a[j + 1] = value
  }
}

function at(a, n, rank) { return a[rank < 1 ? 1 : rank > n ? n : rank] }

# Of an arm's rate in a column, or of its ratio to another arm's in the same round.
function summary(arm, column, other,    a, n, round, half) {
  delete a
  n = 0
  for (round = 0; round < rounds; round++) {
    if (other == "") a[++n] = rate[arm, column, round]
    else if (rate[other, column, round] > 0)
      a[++n] = rate[arm, column, round] / rate[other, column, round]
  }
  sort(a, n)
  half = 0.98 * sqrt(n)
  median = n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
  low = at(a, n, int((n + 1) / 2 - half))
  high = at(a, n, int((n + 1) / 2 + half) + 1)
  return median
}

function heading(title,    c) {
  printf "\n  %-16s", title
  for (c = 1; c <= width; c++) printf "%20s", column[c]
  printf "\n"
}

function refused(arm, c) { return ios[arm, column[c]] == 0 }

END {
  height = split(arms, arm, " ")
  width = split(columns, column, " ")
  plain = split(unscheduled, without, " ")
  bare = index(" " arms " ", " bare ")

  heading("I/Os per second")
  for (i = 1; i <= height; i++) {
    printf "  %-16s", arm[i]
    for (c = 1; c <= width; c++) {
      if (refused(arm[i], c)) { printf "%20s", "-"; continue }
      text = sprintf("%d", summary(arm[i], column[c]))
      if (bare) text = text sprintf(" (%.2f)", summary(arm[i], column[c], "bare"))
      printf "%20s", text
    }
    printf "\n"
  }
  if (bare) print "  (in brackets: of the bare file's in the same round)"

  for (c = 1; c <= width; c++) {
    for (i = 1; i <= plain; i++) {
      is_plain[without[i]] = 1
      if (!refused(without[i], c) && (!best[c] || summary(without[i], column[c]) > top)) {
        best[c] = without[i]
        top = summary(best[c], column[c])
      }
    }
  }
  heading("of the fastest")
  printf "  %-16s", "unscheduled"
  for (c = 1; c <= width; c++) printf "%20s", best[c] ? best[c] : "-"
  printf "\n"
  for (i = 1; i <= height; i++) {
    if (is_plain[arm[i]] || arm[i] == "bare") continue
    printf "  %-16s", arm[i]
    for (c = 1; c <= width; c++) {
      if (!best[c]) { printf "%20s", "-"; continue }
      summary(arm[i], column[c], best[c])
      printf "%20s", sprintf("%.3f (%.2f-%.2f)", median, low, high)
    }
    printf "\n"
  }
  print "  (in brackets: the interval of 95 % for the median)"

  heading("CPU µs per I/O")
  for (i = 1; i <= height; i++) {
    if (arm[i] == "bare") continue
    printf "  %-16s", arm[i]
    for (c = 1; c <= width; c++)
      printf "%20s", refused(arm[i], c) ? "-" : \
        sprintf("%.1f", ticks[arm[i], column[c]] * 1000000 / hz / ios[arm[i], column[c]])
    printf "\n"
  }
}
