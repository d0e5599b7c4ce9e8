import { expect, test } from 'vitest'
import { doEach } from '../../../../../src/cli/agent/process/do-each.ts'

test('every step is done in turn, also after one has failed, and the first failure is thrown', async () => {
  const steps: string[] = []
  const step = (name: string, failure?: string) => async () => {
    steps.push(`${name} begins`)
    await Promise.resolve()
    steps.push(`${name} ends`)
    if (failure !== undefined) throw new Error(failure)
  }
  await expect(doEach([step('a'), step('b', 'first'), step('c', 'second'), step('d')])).rejects.toThrow('first')
  expect(steps).toEqual(['a', 'b', 'c', 'd'].flatMap((name) => [`${name} begins`, `${name} ends`]))
})

test('steps without a failure resolve', async () => {
  await expect(doEach([async () => undefined])).resolves.toBeUndefined()
})
