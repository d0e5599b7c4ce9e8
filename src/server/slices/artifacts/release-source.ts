import { join } from 'node:path'
import { isAllowedHost } from '../../../shared/networks/allowed-host.ts'
import { OutgoingFetchError, type OutgoingAnswer, type OutgoingFetch } from '../../ports/outgoing-fetch.ts'
import { FileFault, readBounded } from '../../releases/bounded-file.ts'
import { SourceFault } from './source-fault.ts'

/** A configured place that releases come from. */
export type SourcePlace =
  | { readonly kind: 'folder'; readonly directory: string }
  /** The address ends with a slash. */
  | { readonly kind: 'https'; readonly url: string }

/** One file of a source. */
export interface SourceFile {
  readonly bytes: Buffer
  /** By which a later request asks whether there is another one. */
  readonly etag: string | undefined
}

/** Where releases come from. What it holds is not trusted. */
export interface ReleaseSource {
  /** The folder or the address. */
  readonly name: string
  /**
   * Reads a file below the source; undefined where it has not changed since that etag, null where it does not exist.
   * @throws SourceFault where it cannot be read now, and where it is too long.
   */
  read(path: string, limits: ReadLimits): Promise<SourceFile | undefined | null>
}

interface ReadLimits {
  readonly bytesMax: number
  readonly unlessEtag?: string | undefined
  readonly signal: AbortSignal
}

export interface SourceDeps {
  readonly releasesFetch: OutgoingFetch
  /** Hosts that may be in a private network. */
  readonly releasesAllowHosts: readonly string[]
}

export function openSource(place: SourcePlace, deps: SourceDeps): ReleaseSource {
  return place.kind === 'folder' ? folderSource(place.directory) : httpsSource(place.url, deps)
}

function folderSource(directory: string): ReleaseSource {
  return {
    name: directory,
    async read(path, { bytesMax }) {
      try {
        return { bytes: await readBounded(join(directory, path), bytesMax), etag: undefined }
      } catch (error) {
        if (!(error instanceof FileFault)) throw error
        if (error.isMissing) return null
        throw new SourceFault(`${path} ${error.message}`, error)
      }
    },
  }
}

function httpsSource(base: string, { releasesFetch: fetch, releasesAllowHosts }: SourceDeps): ReleaseSource {
  const allowPrivateNetwork = isAllowedHost(new URL(base), new Set(releasesAllowHosts))
  return {
    name: base,
    async read(path, { bytesMax, unlessEtag, signal }) {
      const headers = { accept: '*/*', ...(unlessEtag !== undefined && { 'if-none-match': unlessEtag }) }
      const request = { headers, allowPrivateNetwork, bodyBytesMax: bytesMax, redirect: 'returned', signal } as const
      return fileIn(path, await answerOf(path, () => fetch(new URL(path, base).href, request)))
    },
  }
}

function fileIn(path: string, { status, headers, body }: OutgoingAnswer): SourceFile | undefined | null {
  if (status === 200) return { bytes: body, etag: headers['etag'] }
  if (status === 304) return undefined
  if (status === 404 || status === 410) return null
  throw new SourceFault(`${path} is answered with status ${status}`)
}

const FORBIDDEN = 'the host is not at a public address, and --releases-allow-hosts does not name it'

async function answerOf(path: string, ask: () => Promise<OutgoingAnswer>): Promise<OutgoingAnswer> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof OutgoingFetchError)) throw error
    const fault = error.reason === 'forbidden_address' ? FORBIDDEN : error.message
    throw new SourceFault(`${path} cannot be fetched: ${fault}`, error)
  }
}
