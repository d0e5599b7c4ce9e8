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
export async function runSteps(steps, cleanUp) {
  let passed = 0
  let failed = 0
  try {
    for (const { name, run } of steps) {
      const startedAt = Date.now()
      const said = await run()
      passed += 1
      const note = typeof said === 'string' ? `: ${said}` : ''
      process.stdout.write(`ok      ${name}${note} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)\n`)
    }
  } catch (error) {
    failed = 1
    process.stdout.write(`FAILED  ${steps[passed].name}: ${error.message}\n`)
  } finally {
    await cleanUp()
  }
  process.stdout.write(`${passed} passed, ${failed} failed, ${steps.length - passed - failed} skipped\n`)
  process.exitCode = failed
}
