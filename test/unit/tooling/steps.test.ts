import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { spawnGroup } from '../../../scripts/lib/process-group.mjs'

const LIB = fileURLToPath(new URL('../../../scripts/lib/steps.mjs', import.meta.url))

/** Runs a script that has `runSteps`, `runLanes` and `say`, which makes a step. */
function runScript(text: string) {
  const script = `
    import { assert, runLanes, runSteps } from ${JSON.stringify(LIB)}
    const step = (name, run = () => undefined) => ({ name, run })
    const fail = (sentence) => () => assert(false, sentence)
    const cleanUp = () => console.log('cleaned up')
    ${text}`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
  return {
    status,
    stderr,
    lines: stdout
      .replaceAll(/ \(\d+\.\d s\)/g, '')
      .trim()
      .split('\n'),
  }
}

describe('Steps of a script', () => {
  test('are printed with what they found, and the last line counts them', () => {
    expect(runScript(`await runSteps([step('one'), step('two', () => 'found')], cleanUp)`)).toEqual({
      status: 0,
      stderr: '',
      lines: ['ok      one', 'ok      two: found', 'cleaned up', '2 passed, 0 failed, 0 skipped'],
    })
  })

  test('behind one that failed are skipped, and its reason is on one line', () => {
    expect(
      runScript(`await runSteps([step('one'), step('two', fail('ended:\\n  why\\n')), step('three')], cleanUp)`),
    ).toEqual({
      status: 1,
      stderr: '',
      lines: ['ok      one', 'FAILED  two: ended: | why', 'cleaned up', '1 passed, 1 failed, 1 skipped'],
    })
  })

  test('that failed with a long reason print its beginning and its end', () => {
    const { lines } = runScript(`await runSteps([step('one', fail('begin' + '.'.repeat(5000) + 'end'))], cleanUp)`)
    expect(lines[0]).toMatch(/^FAILED  one: begin\.+ \[…\] \.+end$/)
    expect(lines[0]?.length).toBeLessThan(1_300)
  })

  test('in lanes: one that fails ends its lane only', () => {
    const { status, lines } = runScript(`await runLanes({
      before: [step('first')],
      lanes: [[step('a', fail('why')), step('a again')], [step('b'), step('b again')], [step('c')]],
      lanesMax: 2,
    }, cleanUp)`)
    expect(status).toBe(1)
    expect(lines.slice(1, -2).toSorted()).toEqual(['FAILED  a: why', 'ok      b', 'ok      b again', 'ok      c'])
    expect(lines.slice(-2)).toEqual(['cleaned up', '4 passed, 1 failed, 1 skipped'])
  })

  test('in lanes: none starts where a step before them fails', () => {
    const lanes = `await runLanes({ before: [step('first', fail('why'))], lanes: [[step('a')], [step('b')]], lanesMax: 2 }, cleanUp)`
    expect(runScript(lanes).lines).toEqual(['FAILED  first: why', 'cleaned up', '0 passed, 1 failed, 2 skipped'])
  })

  test('in lanes: as many run at once as are allowed', () => {
    const { lines } = runScript(`
      let running = 0
      let most = 0
      const work = async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
      }
      await runLanes({ before: [], lanes: [1, 2, 3, 4, 5].map((n) => [step(n, work)]), lanesMax: 3 }, () => console.log(most))`)
    expect(lines.slice(-2)).toEqual(['3', '5 passed, 0 failed, 0 skipped'])
  })
})

test('A process group is killed with the processes that it started', async () => {
  const { child, kill } = spawnGroup('sh', ['-c', 'sleep 1000 & echo $!; wait'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.stdout === null) throw new Error('there is no stdout')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  // An ended process may keep its number until the first process of the machine has noticed.
  const isThere = (): boolean =>
    /^[^Z]/.test(spawnSync('ps', ['-o', 'stat=', '-p', line], { encoding: 'utf8' }).stdout.trim())
  expect(isThere()).toBe(true)
  kill()
  await vi.waitFor(() => expect(isThere()).toBe(false), 10_000)
  kill()
})
