// How long a process does nothing else.

/** Runs the work; the longest time, in ms, for which the event loop ran nothing else, and the time that it took. */
export async function longestTurn(work) {
  let longestMs = 0
  let since = performance.now()
  let isOver = false
  const tick = () => {
    longestMs = Math.max(longestMs, performance.now() - since)
    since = performance.now()
    if (!isOver) setImmediate(tick)
  }
  await new Promise((begun) => {
    setImmediate(() => {
      tick()
      longestMs = 0
      setImmediate(begun)
    })
  })
  const startedAt = performance.now()
  const result = await work()
  const ms = performance.now() - startedAt
  await new Promise((ended) => {
    setImmediate(ended)
  })
  isOver = true
  return { longestMs, ms, result }
}
