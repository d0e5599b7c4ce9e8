/** The middle value; of an even number, the mean of the two. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Prints rows as an aligned table. */
export function printTable(header, rows) {
  const all = [header, ...rows].map((row) => row.map(String))
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column].length)))
  for (const row of all)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
}

/** Prints the record that tools read: one line. */
export function printRecord(record) {
  console.log(JSON.stringify(record))
}

/** Rounds to three digits after the point. */
export function round(value) {
  return Math.round(value * 1000) / 1000
}
