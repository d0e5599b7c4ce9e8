import { LRUCache } from 'lru-cache'
import { isAllowedHost } from '../../../shared/networks/allowed-host.ts'
import type { AcmeDirectories } from '../../ports/acme-directories.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OutgoingFetch } from '../../ports/outgoing-fetch.ts'
import type { ProjectSecrets } from '../../ports/project-secrets.ts'
import { assertDirectory } from './directory-document.ts'
import { directoryUrlOf } from './directory-url.ts'
import { DIRECTORY_BYTES_MAX, translated } from './unreachable.ts'

export interface AcmeDirectoriesDeps {
  readonly fetch: OutgoingFetch
  readonly secrets: ProjectSecrets
  readonly clock: Clock
  /** `host` or `host:port` in lower case: those that may be in a private network. */
  readonly allowedHosts: readonly string[]
}

/** How long a success counts, ms. A failure is not remembered. */
const REMEMBERED_MS = 60_000
const REMEMBERED_MAX = 1_000

/** Makes the check over the guarded fetch. Concurrent checks of one URL share a request. */
export function createAcmeDirectories({ fetch, secrets, clock, allowedHosts }: AcmeDirectoriesDeps): AcmeDirectories {
  const allowed = new Set(allowedHosts)
  const succeededMs = new LRUCache<string, number>({ max: REMEMBERED_MAX })
  const running = new Map<string, Promise<void>>()

  async function request(url: URL): Promise<void> {
    const allowPrivateNetwork = isAllowedHost(url, allowed)
    try {
      assertDirectory(await fetch(url.href, { allowPrivateNetwork, bodyBytesMax: DIRECTORY_BYTES_MAX }))
    } catch (error) {
      throw translated(error)
    }
    succeededMs.set(url.href, clock.now())
  }

  function checkOnce(url: URL): Promise<void> {
    const found = running.get(url.href)
    if (found !== undefined) return found
    const made = request(url).finally(() => running.delete(url.href))
    running.set(url.href, made)
    return made
  }

  return {
    async check(ref, place) {
      const url = await directoryUrlOf(secrets, ref, place)
      const sinceMs = succeededMs.get(url.href)
      if (sinceMs === undefined || clock.now() - sinceMs >= REMEMBERED_MS) await checkOnce(url)
    },
  }
}
