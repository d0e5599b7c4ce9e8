import { describe, expect, it } from 'vitest'
import { contract } from '../../../../src/shared/contract/index.ts'
import type { Manifest } from '../../../../src/shared/contract/manifest-format.ts'
import { manifestFilesOf, readManifest } from '../../../../src/shared/contract/manifest-files.ts'
import { manifestOf } from '../../../../src/shared/contract/manifest.ts'

const written = manifestOf(contract)
const { manifest: text, index } = manifestFilesOf(written)

/** The manifest read back, and the texts that it has read of the file of operations. */
function readBack(): { readonly manifest: Manifest; readonly texts: readonly string[] } {
  const texts: string[] = []
  const read = (from: number, to: number): string => {
    texts.push(text.slice(from, to))
    return texts.at(-1) ?? ''
  }
  return { manifest: readManifest({ index, read }), texts }
}

describe('A manifest that is written to files', () => {
  it('is one JSON document', () => {
    expect(JSON.parse(text)).toEqual(written)
  })

  it('is read back as it was, in the order of the contract', () => {
    const { manifest } = readBack()
    expect(manifest).toEqual(written)
    expect(Object.keys(manifest.operations)).toEqual(Object.keys(written.operations))
    expect(JSON.stringify(manifest.operations)).toBe(JSON.stringify(written.operations))
  })

  it('has an operation parsed when it is first read, and none of the others', () => {
    const { manifest, texts } = readBack()
    const ids = Object.keys(manifest.operations)
    expect([ids.includes('GetNode'), 'GetNode' in manifest.operations, texts]).toEqual([true, true, []])
    expect(manifest.operations['GetNode']).toBe(manifest.operations['GetNode'])
    expect(texts).toEqual([JSON.stringify(written.operations['GetNode'])])
  })

  it('lacks operations that the contract lacks', () => {
    const { manifest, texts } = readBack()
    expect([manifest.operations['GetNothing'], texts]).toEqual([undefined, []])
  })

  it('counts a character outside ASCII as the bytes of its escape', () => {
    const summary = 'Größe in µs – 🚀'
    const [first, second] = Object.values(written.operations)
    if (first === undefined || second === undefined) throw new Error('the contract has no two operations')
    const operations = { [first.id]: { ...first, summary }, [second.id]: second }
    const files = manifestFilesOf({ ...written, operations })
    expect(Buffer.byteLength(files.manifest)).toBe(files.manifest.length)
    const manifest = readManifest({ index: files.index, read: (from, to) => files.manifest.slice(from, to) })
    expect(manifest.operations).toEqual(operations)
  })
})
