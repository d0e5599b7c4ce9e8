import { BootError } from '../../ports/boot-error.ts'
import type { Db } from '../../ports/datastore.ts'
import { SignerError, type SignerFault } from '../../ports/signer.ts'
import { Problem } from '../../../shared/problems.ts'
import type { KeySource, NewKey } from './key-source.ts'
import {
  addKey,
  lockKeys,
  readKeys,
  readKids,
  readSignerInUse,
  writeSignerInUse,
  type SignerInUse,
} from './key-store.ts'
import { succeed, type SignerDeps } from './rotation.ts'
import { pendingOf, signingFrom } from './schedule.ts'

/**
 * Makes sure that the keys of the datastore are of the configured source: creates the first key, or moves to the source
 * where that is asked for.
 *
 * @throws BootError in one sentence. Nothing was written then.
 */
export async function settleSigner(deps: SignerDeps): Promise<void> {
  const inUse = await readSignerInUse(deps.datastore.pool('worker'))
  if (inUse === undefined) return begin(deps)
  if (inUse.signer !== deps.source.name) return move(deps, otherSigner(inUse, deps.source))
  const fault = await faultOf(deps)
  if (fault === undefined) return
  if (AWAY.has(fault.fault)) deps.warn?.('the signing service cannot be used: nothing is signed until it can', fault)
  else await move(deps, unusable(deps.source, fault))
}

async function begin(deps: SignerDeps): Promise<void> {
  const { datastore, clock, source } = deps
  const made = await makeKey(deps)
  const isMine = await datastore.transaction('worker', async (tx) => {
    await lockKeys(tx)
    if ((await readSignerInUse(tx)) !== undefined) return false
    const now = new Date(clock.now())
    const [stored] = await readKeys(tx, now)
    if (stored !== undefined) {
      await writeSignerInUse(tx, { signer: stored.signer, address: '' })
      return false
    }
    await writeSignerInUse(tx, { signer: source.name, address: source.address })
    await addKey(tx, { ...made, signer: source.name }, { now, signsFrom: now })
    return true
  })
  if (!isMine) await settleSigner(deps)
}

/** Makes the next key come from the source, if that is meant. @throws the refusal where it is not. */
async function move(deps: SignerDeps, refusal: BootError): Promise<void> {
  const { datastore, source, isMoving, warn } = deps
  if (!isMoving) throw refusal
  const made = await makeKey(deps)
  const signsFrom = await datastore.transaction('worker', (tx) => moveIn(tx, deps, made))
  if (signsFrom !== undefined)
    warn?.(
      `signing keys come from ${wordsOf(source.name, source.address)} now: it signs from ${signsFrom.toISOString()} on`,
    )
}

/** Undefined where another process was first. */
async function moveIn(tx: Db, deps: SignerDeps, made: NewKey): Promise<Date | undefined> {
  const { clock, source } = deps
  await lockKeys(tx)
  const keys = await readKeys(tx, new Date(clock.now()))
  const inUse = await readSignerInUse(tx)
  if (inUse?.signer === source.name && pendingOf(keys, clock.now())?.signer === source.name) return undefined
  await writeSignerInUse(tx, { signer: source.name, address: source.address })
  const { next } = await succeed(tx, deps, { keys, newKey: made })
  return next.public.signsFrom
}

async function makeKey({ datastore, source }: SignerDeps): Promise<NewKey> {
  const kids = await readKids(datastore.pool('worker'))
  return source.create(kids).catch((error: unknown) => {
    throw asBootError(source, error)
  })
}

/** Why the source cannot sign with the keys that are stored; undefined where it can, and where it is in the datastore. */
async function faultOf({ datastore, clock, source }: SignerDeps): Promise<SignerError | undefined> {
  if (source.remote === undefined) return undefined
  const nowMs = clock.now()
  const keys = signingFrom(await readKeys(datastore.pool('worker'), new Date(nowMs)), nowMs)
  return source.remote.inspect(keys.filter(({ signer }) => signer === source.name)).then(
    () => undefined,
    (error: unknown) => signerErrorIn(error),
  )
}

/** What ends by itself, or by the hands of those who operate the service: a server that starts meanwhile waits for it. */
const AWAY: ReadonlySet<SignerFault> = new Set([
  'unreachable',
  'timeout',
  'sealed',
  'full',
  'overloaded',
  'refused',
  'broken',
])
/** Of these, what may be over at the next try. */
const SHORTLY: ReadonlySet<SignerFault> = new Set(['unreachable', 'timeout', 'sealed', 'overloaded'])

/** Asserts that the source can sign, before a server is started with it. @throws BootError in one sentence. */
export async function assertUsable(source: KeySource): Promise<void> {
  await source.remote?.inspect([]).catch((error: unknown) => {
    throw asBootError(source, error)
  })
}

function asBootError(source: KeySource, error: unknown): BootError {
  return unusable(source, signerErrorIn(error))
}

function signerErrorIn(error: unknown): SignerError {
  if (error instanceof Problem && error.cause instanceof SignerError) return error.cause
  throw error
}

function unusable({ name, address }: KeySource, error: SignerError): BootError {
  const exitCode = SHORTLY.has(error.fault) ? 8 : 1
  return new BootError(exitCode, `${capital(wordsOf(name, address))} cannot sign: ${error.message}.`, error)
}

function otherSigner({ signer, address }: SignerInUse, source: KeySource): BootError {
  const [stored, configured] = [wordsOf(signer, address), wordsOf(source.name, source.address)]
  return new BootError(
    1,
    `The signing keys of this database come from ${stored}, and this server is configured for ${configured}: configure the same signer on every server, or move by --signer-adopt (docs/signing.md).`,
  )
}

function wordsOf(name: string, address: string): string {
  return name === 'sealed' ? 'the datastore' : `the Transit key ${name}${address === '' ? '' : ` at ${address}`}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
