import type { Manifest, ManifestOperation } from './manifest-format.ts'

/** The manifest as the build writes it: a short command parses the index and the few operations that it needs. */
export interface ManifestFiles {
  /** The whole manifest, one JSON document. */
  readonly manifest: string
  /** The manifest without its operations, with the place of each of them in `manifest`. */
  readonly index: string
}

/** What reads the files. */
export interface ManifestSource {
  readonly index: string
  /** The characters of `manifest` from one position up to another. */
  readonly read: (from: number, to: number) => string
}

interface Index extends Omit<Manifest, 'operations'> {
  /** By operation id: the position of its first character, and the one after its last. */
  readonly places: { readonly [operationId: string]: Place }
}

type Place = readonly [from: number, to: number]

/** Writes a manifest. */
export function manifestFilesOf(manifest: Manifest): ManifestFiles {
  const { operations, ...rest } = manifest
  const text = asciiJson(manifest)
  let end = 0
  const places = Object.entries(operations).map(([id, operation]) => {
    const written = asciiJson(operation)
    const from = text.indexOf(written, end)
    end = from + written.length
    return [id, [from, end]] as const
  })
  return { manifest: text, index: asciiJson({ ...rest, places: Object.fromEntries(places) }) }
}

/** JSON in ASCII: each character is one byte, so a part of the file is read without the rest. */
function asciiJson(value: unknown): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replaceAll(/[\u0080-\uffff]/g, escaped)
}

/** Reads a manifest. Each operation is parsed when it is first read. */
export function readManifest({ index, read }: ManifestSource): Manifest {
  const { places, ...rest } = JSON.parse(index) as Index
  return { ...rest, operations: parsedWhenRead(places, read) }
}

/** The operations at those places. A proxy, because defining a getter for each of them takes as long as parsing the index. */
function parsedWhenRead(places: Index['places'], read: ManifestSource['read']): Manifest['operations'] {
  const parsed = new Map<string | symbol, ManifestOperation>()
  const operations = new Proxy<object>(places, {
    get(target, id) {
      const place: unknown = Reflect.get(target, id)
      if (!isPlace(place)) return place
      const operation = parsed.get(id) ?? (JSON.parse(read(...place)) as ManifestOperation)
      parsed.set(id, operation)
      return operation
    },
  })
  return operations as Manifest['operations']
}

/** Whether a member is that of an operation: every object has others, such as `toString`. */
function isPlace(member: unknown): member is Place {
  return Array.isArray(member)
}
