/** A step that failed: one sentence, without a stack. */
export function assert(holds, sentence) {
  if (!holds) throw new Error(sentence)
}

/**
 * Runs the steps in order, each on what the one before it left, prints a line for each and the result line
 * `N passed, N failed, N skipped`, and sets the exit code. The steps behind one that failed are counted as skipped.
 *
 * @param steps `{ name, run }`; what `run` resolves with is printed when it is a string
 * @param cleanUp runs at the end, whatever happened
 */
export const runSteps = (steps, cleanUp) => runLanes({ before: steps, lanes: [], lanesMax: 1 }, cleanUp)

/**
 * Like `runSteps`, with lanes of steps behind the first ones. Some lanes run at once. A step that fails ends its lane only.
 *
 * @param before steps; where one fails no lane starts
 * @param lanes lists of steps
 * @param lanesMax how many lanes run at once; they start in their order
 */
export async function runLanes({ before, lanes, lanesMax }, cleanUp) {
  const count = { passed: 0, failed: 0 }
  const all = [before, ...lanes].flat().length
  try {
    if (await runLane(before, count)) {
      const waiting = [...lanes]
      const work = async () => {
        while (waiting.length > 0) await runLane(waiting.shift(), count)
      }
      await Promise.all(Array.from({ length: lanesMax }, work))
    }
  } finally {
    await cleanUp()
  }
  const { passed, failed } = count
  process.stdout.write(`${passed} passed, ${failed} failed, ${all - passed - failed} skipped\n`)
  process.exitCode = failed === 0 ? 0 : 1
}

const HEAD_MAX = 300
const TAIL_MAX = 900

/** A reason that .ci/run can repeat at its end: what failed is at its beginning, why at its end. */
function onOneLine(message) {
  const line = message.trim().replaceAll(/\s*\n\s*/g, ' | ')
  return line.length <= HEAD_MAX + TAIL_MAX ? line : `${line.slice(0, HEAD_MAX)} […] ${line.slice(-TAIL_MAX)}`
}

/** Resolves with whether every step passed. */
async function runLane(steps, count) {
  for (const { name, run } of steps) {
    const startedAt = Date.now()
    try {
      const said = await run()
      const note = typeof said === 'string' ? `: ${said}` : ''
      process.stdout.write(`ok      ${name}${note} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)\n`)
      count.passed += 1
    } catch (error) {
      process.stdout.write(`FAILED  ${name}: ${onOneLine(error.message)}\n`)
      count.failed += 1
      return false
    }
  }
  return true
}
