import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SecretVersionConflict, type SecretStore } from '../../src/server/ports/secret-store.ts'

/** What every secret store promises (`ports/secret-store.ts`). `open` gives the store of the surrounding hooks. */
export function secretStoreContract(open: () => SecretStore): void {
  const newPath = (): string => `test/${randomUUID()}`
  const put = (path: string, text: string, cas: number) => open().put(path, Buffer.from(text), cas)
  const get = async (path: string, version?: number) => (await open().get(path, version))?.toString('utf8')

  describe('versions', () => {
    test('count from 1, and each stays readable', async () => {
      const path = newPath()
      expect(await put(path, 'one', 0)).toBe(1)
      expect(await put(path, 'two', 1)).toBe(2)
      expect([await get(path), await get(path, 1), await get(path, 2)]).toEqual(['two', 'one', 'two'])
      expect(await open().newest(path)).toBe(2)
    })

    test('of other paths are others', async () => {
      const [one, other] = [newPath(), newPath()]
      await put(one, 'one', 0)
      expect(await put(other, 'other', 0)).toBe(1)
      expect([await get(one), await get(other)]).toEqual(['one', 'other'])
    })

    test('of a path that does not exist are undefined, and its newest is 0', async () => {
      const path = newPath()
      expect([await get(path), await get(path, 1), await open().newest(path)]).toEqual([undefined, undefined, 0])
      await put(path, 'one', 0)
      expect(await get(path, 2)).toBeUndefined()
    })

    test('keep every byte, up to 64 KiB', async () => {
      const path = newPath()
      const bytes = Buffer.from(Uint8Array.from({ length: 65_536 }, (_, at) => at % 256))
      await open().put(path, bytes, 0)
      expect((await open().get(path))?.equals(bytes)).toBe(true)
    })

    test('are kept in full: the first of thirty can still be read', async () => {
      const path = newPath()
      for (let cas = 0; cas < 30; cas += 1) await put(path, `version ${cas + 1}`, cas)
      expect([await get(path, 1), await get(path)]).toEqual(['version 1', 'version 30'])
    })
  })

  describe('a compare-and-set write', () => {
    test.each([
      ['an existing path as if it were new', 1, 0],
      ['after a version that is not the newest', 2, 1],
      ['after a version that does not exist yet', 1, 2],
      ['a new path as if it existed', 0, 1],
    ])('is refused for %s, and changes nothing', async (_title, versions, cas) => {
      const path = newPath()
      for (let at = 0; at < versions; at += 1) await put(path, `${at + 1}`, at)
      await expect(put(path, 'refused', cas)).rejects.toBeInstanceOf(SecretVersionConflict)
      expect(await open().newest(path)).toBe(versions)
      expect(await get(path)).toBe(versions === 0 ? undefined : `${versions}`)
    })

    test('has one winner among twenty at once', async () => {
      const path = newPath()
      const writes = Array.from({ length: 20 }, (_, at) => put(path, `${at}`, 0).then(() => at))
      const settled = await Promise.allSettled(writes)
      const won = settled.filter((one) => one.status === 'fulfilled')
      expect(won).toHaveLength(1)
      expect(await get(path)).toBe(String(won[0]?.value))
      const lost = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      expect(lost.every((error) => error instanceof SecretVersionConflict)).toBe(true)
    })
  })

  describe('destruction', () => {
    test('of a version leaves the others, and its number is not used again', async () => {
      const path = newPath()
      await put(path, 'one', 0)
      await put(path, 'two', 1)
      await open().destroy(path, 1)
      expect([await get(path, 1), await get(path, 2)]).toEqual([undefined, 'two'])
      await open().destroy(path, 2)
      expect([await get(path), await open().newest(path)]).toEqual([undefined, 2])
      expect(await put(path, 'three', 2)).toBe(3)
    })

    test('of a path removes all versions, and the path can be written again as new', async () => {
      const path = newPath()
      await put(path, 'one', 0)
      await put(path, 'two', 1)
      await open().destroy(path)
      expect([await get(path), await get(path, 1), await open().newest(path)]).toEqual([undefined, undefined, 0])
      expect(await put(path, 'new', 0)).toBe(1)
    })

    test('of what is gone already is no error', async () => {
      const path = newPath()
      await open().destroy(path)
      await open().destroy(path, 3)
      await put(path, 'one', 0)
      await open().destroy(path, 1)
      await open().destroy(path, 1)
      expect(await open().newest(path)).toBe(1)
    })
  })

  test('a ping of a working store resolves', () => expect(open().ping()).resolves.toBeUndefined())
}
