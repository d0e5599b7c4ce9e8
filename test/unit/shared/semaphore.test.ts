import { describe, expect, it } from 'vitest'
import { createSlots } from '../../../src/shared/semaphore.ts'

/** A work that ends when it is told to. */
function work(log: string[], name: string) {
  let resolve = (): void => undefined
  let reject = (_error: Error): void => undefined
  const ended = new Promise<string>((fulfil, refuse) => {
    resolve = () => fulfil(name)
    reject = refuse
  })
  const run = (): Promise<string> => {
    log.push(name)
    return ended
  }
  return { run, resolve, reject }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('createSlots', () => {
  it('runs so many at once, the others in the order of their arrival', async () => {
    const begun: string[] = []
    const slots = createSlots(2)
    const works = ['a', 'b', 'c', 'd'].map((name) => work(begun, name))
    const runs = works.map(({ run }) => slots.run(run))
    await settled()
    expect(begun).toEqual(['a', 'b'])
    works[1]?.resolve()
    await settled()
    expect(begun).toEqual(['a', 'b', 'c'])
    for (const { resolve } of works) resolve()
    expect(await Promise.all(runs)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('frees the slot of a work that fails', async () => {
    const begun: string[] = []
    const slots = createSlots(1)
    const failing = work(begun, 'failing')
    const first = slots.run(failing.run)
    const second = slots.run(async () => 'second')
    failing.reject(new Error('no'))
    await expect(first).rejects.toThrow('no')
    expect(await second).toBe('second')
  })

  it('refuses whom the waiting room has no place for, and takes others again later', async () => {
    const begun: string[] = []
    const slots = createSlots(1, { max: 1, refusal: () => new Error('full') })
    const [running, waiting] = [work(begun, 'running'), work(begun, 'waiting')]
    const runs = [slots.run(running.run), slots.run(waiting.run)]
    await expect(slots.run(async () => 'late')).rejects.toThrow('full')
    running.resolve()
    waiting.resolve()
    expect(await Promise.all(runs)).toEqual(['running', 'waiting'])
    expect(await slots.run(async () => 'again')).toBe('again')
  })
})
