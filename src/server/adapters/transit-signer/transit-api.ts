import { z } from 'zod'
import { SignerError } from '../../ports/signer.ts'
import { bodyOf, errorsOf, unusable } from '../openbao/answers.ts'
import { BaoError } from '../openbao/bao-error.ts'
import type { BaoAnswer } from '../openbao/connection.ts'
import type { BaoSession } from '../openbao/session.ts'

/** A key of a Transit engine. */
export interface TransitPlace {
  /** Path of the engine. */
  readonly mount: string
  readonly key: string
}

/** The description of a key by the engine. */
export interface TransitKey {
  readonly type: string
  /** Why the private half could leave the engine, or the key is not one key; undefined where neither is so. */
  readonly flaw: string | undefined
  readonly latestVersion: number
  /** Lower versions do not sign. */
  readonly versionMin: number
  /** The public key of each version that the engine still has, 32 bytes. */
  readonly publicKeys: ReadonlyMap<number, Buffer>
}

/** A signature with the version of the key that made it, as the engine reports it. */
export interface TransitSignature {
  readonly version: number
  readonly signature: Buffer
}

/** The calls of Transit that signing needs. Each throws SignerError. */
export interface TransitApi {
  read(): Promise<TransitKey>
  /** Makes the next version of the key. */
  rotate(): Promise<void>
  /** Signs each text with that version, in one call. */
  sign(batch: readonly Uint8Array[], version: number): Promise<readonly TransitSignature[]>
}

const Version = z.union([z.object({ public_key: z.string() }), z.unknown().transform(() => undefined)])
const Key = z.object({
  data: z.object({
    type: z.string(),
    derived: z.boolean().optional(),
    exportable: z.boolean(),
    allow_plaintext_backup: z.boolean().optional(),
    latest_version: z.int().positive(),
    min_encryption_version: z.int().optional(),
    keys: z.record(z.string(), Version),
  }),
})
const Signed = z.object({
  data: z.object({
    batch_results: z.array(
      z.object({ signature: z.string().optional(), key_version: z.int().optional(), error: z.string().optional() }),
    ),
  }),
})

export function createTransitApi(session: BaoSession, { mount, key }: TransitPlace): TransitApi {
  const at = (operation: string): string =>
    [...mount.split('/'), ...operation.replace(':key', key).split('/')].map(encodeURIComponent).join('/')

  return {
    read: () =>
      inTermsOfPort(async () => {
        const answer = await session.send({ method: 'GET', path: at('keys/:key') })
        if (answer.status === 404 && errorsOf(answer)?.length === 0) throw missing(mount, key)
        return keyOf(bodyOf(answer, Key).data)
      }),

    rotate: () =>
      inTermsOfPort(async () => {
        const answer = await session.send({ method: 'POST', path: at('keys/:key/rotate'), body: {} })
        if (answer.status !== 200 && answer.status !== 204) throw refusedBy(answer, { mount, key })
      }),

    sign: (batch, version) =>
      inTermsOfPort(async () => {
        const batchInput = batch.map((bytes) => ({ input: Buffer.from(bytes).toString('base64') }))
        const body = { batch_input: batchInput, key_version: version }
        const answer = await session.send({ method: 'POST', path: at('sign/:key'), body })
        if (answer.status !== 200) throw refusedBy(answer, { mount, key })
        const results = bodyOf(answer, Signed).data.batch_results
        if (results.length !== batch.length)
          throw new SignerError(
            'signature',
            `${batch.length} texts were given to sign, and ${results.length} came back`,
          )
        return results.map(signatureOf)
      }),
  }
}

function keyOf(data: z.infer<typeof Key>['data']): TransitKey {
  const versions = Object.entries(data.keys).flatMap(([version, key]) =>
    key === undefined ? [] : [[Number(version), Buffer.from(key.public_key, 'base64')] as const],
  )
  return {
    type: data.type,
    flaw: flawOf(data),
    latestVersion: data.latest_version,
    versionMin: data.min_encryption_version ?? 0,
    publicKeys: new Map(versions.filter(([, publicKey]) => publicKey.length === 32)),
  }
}

function flawOf({ exportable, allow_plaintext_backup: canBackUp, derived }: z.infer<typeof Key>['data']) {
  if (exportable) return 'it is exportable, so that its private half can be copied'
  if (canBackUp === true) return 'it allows plaintext backups, so that its private half can be copied'
  return derived === true ? 'it is derived: it has no public key of its own' : undefined
}

type Result = z.infer<typeof Signed>['data']['batch_results'][number]

/** @throws SignerError for an item that was not signed: a batch is signed as a whole or not at all. */
function signatureOf({ signature: text = '', error, key_version: stated }: Result): TransitSignature {
  if (error !== undefined) throw faultIn([error])
  const [, digits = '', encoded = ''] = /^vault:v(\d+):([A-Za-z0-9+/=]+)$/.exec(text) ?? []
  const version = Number(digits)
  const isStrange = encoded === '' || (stated !== undefined && stated !== 0 && stated !== version)
  if (isStrange) throw new SignerError('signature', 'the answer has no signature of the expected form')
  return { version, signature: Buffer.from(encoded, 'base64') }
}

function refusedBy(answer: BaoAnswer, { mount, key }: TransitPlace): Error {
  const said = errorsOf(answer) ?? []
  if (said.some((one) => one.includes('key not found'))) return missing(mount, key)
  return answer.status === 400 ? faultIn(said) : unusable(answer)
}

function missing(mount: string, key: string): SignerError {
  return new SignerError('key', `there is no key ${key} in the Transit engine at ${mount}`)
}

/** Sentences by what the engine reports of a version. */
const BY_WORDS: readonly (readonly [RegExp, string])[] = [
  [/less than the minimum encryption key version/i, 'min_encryption_version keeps the version from signing'],
  [/higher than the latest key version/i, 'the key has no such version'],
  [/no (longer|such) .*version|version .*(archived|too old|not found)/i, 'the version is not in the key any more'],
]

function faultIn(said: readonly string[]): SignerError {
  const known = BY_WORDS.find(([words]) => said.some((one) => words.test(one)))
  return known === undefined
    ? new SignerError('broken', 'the engine refuses to sign')
    : new SignerError('key', known[1])
}

async function inTermsOfPort<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BaoError) throw new SignerError(error.fault, error.message, error.cause)
    throw error
  }
}
