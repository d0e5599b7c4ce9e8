/** An answer of the emulator. */
export interface Reply {
  readonly status: number
  readonly body?: unknown
}

interface Version {
  readonly createdTime: string
  value: unknown
  destroyed: boolean
  deletionTime: string
}

interface Key {
  maxVersions: number
  casRequired: boolean
  current: number
  readonly versions: Map<number, Version>
}

const NOTHING: Reply = { status: 404, body: { errors: [] } }
const DONE: Reply = { status: 204 }
/** What the engine keeps where neither key nor mount says otherwise. */
const MAX_VERSIONS = 10

/** A KV engine of version 2, by its documented API and the source of OpenBao (`builtin/logical/kv`). */
export class KvEngine {
  readonly keys = new Map<string, Key>()

  read(path: string, version: number): Reply {
    const key = this.keys.get(path)
    const at = version > 0 ? version : (key?.current ?? 0)
    const found = key?.versions.get(at)
    if (found === undefined) return NOTHING
    const metadata = metadataOf(at, found)
    // A version that is gone is a 404 with its metadata.
    if (found.destroyed || found.deletionTime !== '') return { status: 404, body: whole({ data: null, metadata }) }
    return { status: 200, body: whole({ data: found.value, metadata }) }
  }

  write(
    path: string,
    { data, options }: { readonly data?: unknown; readonly options?: { readonly cas?: unknown } },
  ): Reply {
    if (data === undefined) return invalid('no data provided')
    const key = this.keys.get(path) ?? newKey()
    if (options?.cas === undefined && key.casRequired) return invalid('check-and-set parameter required for this call')
    if (options?.cas !== undefined && options.cas !== key.current)
      return invalid('check-and-set parameter did not match the current version')
    this.keys.set(path, key)
    key.current += 1
    const version = { createdTime: new Date(0).toISOString(), value: data, destroyed: false, deletionTime: '' }
    key.versions.set(key.current, version)
    for (const old of key.versions.keys()) if (old <= key.current - key.maxVersions) key.versions.delete(old)
    return { status: 200, body: whole(metadataOf(key.current, version)) }
  }

  readMetadata(path: string): Reply {
    const key = this.keys.get(path)
    if (key === undefined) return NOTHING
    const versions = Object.fromEntries([...key.versions].map(([at, version]) => [at, metadataOf(at, version)]))
    return {
      status: 200,
      body: whole({
        cas_required: key.casRequired,
        current_version: key.current,
        max_versions: key.maxVersions,
        versions,
      }),
    }
  }

  writeMetadata(path: string, body: { readonly max_versions?: number; readonly cas_required?: boolean }): Reply {
    const key = this.keys.get(path) ?? newKey()
    if (body.max_versions !== undefined) key.maxVersions = body.max_versions === 0 ? MAX_VERSIONS : body.max_versions
    if (body.cas_required !== undefined) key.casRequired = body.cas_required
    this.keys.set(path, key)
    return DONE
  }

  deleteMetadata(path: string): Reply {
    this.keys.delete(path)
    return DONE
  }

  destroy(path: string, { versions = [] }: { readonly versions?: readonly number[] }): Reply {
    if (versions.length === 0) return invalid('no version number provided')
    for (const at of versions) {
      const version = this.keys.get(path)?.versions.get(at)
      if (version === undefined) continue
      version.destroyed = true
      version.value = undefined
    }
    return DONE
  }

  /** Every value that can still be read, as text. */
  values(): string[] {
    return [...this.keys.values()].flatMap(({ versions }) =>
      [...versions.values()].flatMap(({ value, destroyed }) => (destroyed ? [] : [JSON.stringify(value)])),
    )
  }
}

function newKey(): Key {
  return { maxVersions: MAX_VERSIONS, casRequired: false, current: 0, versions: new Map() }
}

function metadataOf(version: number, { createdTime, deletionTime, destroyed }: Version) {
  return { created_time: createdTime, custom_metadata: null, deletion_time: deletionTime, destroyed, version }
}

/** The envelope of every answer with data. */
function whole(data: unknown) {
  return {
    request_id: '00000000-0000-0000-0000-000000000000',
    lease_id: '',
    renewable: false,
    lease_duration: 0,
    data,
    wrap_info: null,
    warnings: null,
    auth: null,
  }
}

export function invalid(sentence: string): Reply {
  return { status: 400, body: { errors: [sentence] } }
}
