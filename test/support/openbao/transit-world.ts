import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { masterKeyOf } from '../../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../../src/server/adapters/keyring/open-keyring.ts'
import { createSealing } from '../../../src/server/adapters/keyring/ring.ts'
import { createSealedKeys } from '../../../src/server/adapters/sealed-signer/sealed-keys.ts'
import type { KeySource } from '../../../src/server/adapters/signing-keys/key-source.ts'
import { openSignerOver, type FollowingSigner } from '../../../src/server/adapters/signing-keys/open-signer.ts'
import { createTransitKeys, type TransitKeys } from '../../../src/server/adapters/transit-signer/transit-keys.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { TestClock } from '../server/test-backend.ts'
import { startBaoEmulator, type BaoEmulator } from './emulator.ts'

/** What a process is started with. */
export interface ProcessSettings {
  /** Default: the key `ctl`. */
  readonly key?: string
  /** Default: Transit. */
  readonly source?: 'sealed' | 'transit'
  /** Whether a process on sealed keys can also sign with Transit. */
  readonly hasTransit?: boolean
  readonly isMoving?: boolean
  readonly url?: string
}

/** An emulated Transit with the key `ctl`, and processes that sign with it over one datastore. */
export interface TransitWorld {
  readonly bao: BaoEmulator
  readonly tokenFile: string
  /** What the processes warned of, and reported as failures. */
  readonly warnings: string[]
  readonly failures: unknown[]
  /** A process with a connection of its own. */
  open(settings?: ProcessSettings): Promise<FollowingSigner>
  keysOf(settings?: Pick<ProcessSettings, 'key' | 'url'>): TransitKeys
  /** Closes the processes and the emulator. */
  stop(): Promise<void>
}

const DEADLINE_MS = 500

export async function startTransitWorld(datastoreOf: () => Datastore, clock: TestClock): Promise<TransitWorld> {
  const bao = await startBaoEmulator()
  bao.transit.create('ctl', { type: 'ed25519' })
  const scratch = mkdtempSync(join(tmpdir(), 'ctl-transit-'))
  const tokenFile = join(scratch, 'token')
  writeFileSync(tokenFile, bao.issue(), { mode: 0o600 })
  const closing: (() => Promise<void>)[] = []
  const warnings: string[] = []
  const failures: unknown[] = []

  function keysOf({ key = 'ctl', url = bao.url }: Pick<ProcessSettings, 'key' | 'url'> = {}): TransitKeys {
    const keys = createTransitKeys({
      address: { url, namespace: undefined, ca: undefined, deadlineMs: DEADLINE_MS },
      place: { mount: 'transit', key },
      login: { kind: 'token', tokenFile },
      clock,
      onFailure: (error) => void failures.push(error),
    })
    closing.push(() => keys.remote.close())
    return keys
  }

  return {
    bao,
    tokenFile,
    warnings,
    failures,
    keysOf,
    async open({ source: kind = 'transit', hasTransit = false, isMoving = false, ...place } = {}) {
      const datastore = datastoreOf()
      const ring = await openRing(datastore, masterKeyOf(Buffer.alloc(32, 7)), clock)
      const sealed = createSealedKeys(createSealing(ring))
      const transit = keysOf(place)
      const source: KeySource = kind === 'sealed' ? sealed : transit
      const former = kind === 'transit' ? [sealed] : hasTransit ? [transit] : []
      const warn = (message: string): void => void warnings.push(message)
      return openSignerOver({ datastore, clock, source, former, isMoving, warn })
    },
    async stop() {
      for (const close of closing) await close()
      await bao.stop()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}
