import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { createSlots } from '../../../shared/semaphore.ts'

/** Cost of a hash: `N = 2^log2N` rounds over blocks of `128 * r` bytes, `p` times (RFC 7914 §2). */
export interface ScryptCost {
  readonly log2N: number
  readonly r: number
  readonly p: number
}

/** 128 MiB and about a third of a second of one core. */
export const SCRYPT_COST: ScryptCost = { log2N: 17, r: 8, p: 1 }

const SALT_BYTES = 16
const KEY_BYTES = 32
/** Concurrent hashes; they use 256 MiB of memory. */
const AT_ONCE_MAX = 2
/** Waiting hashes, about five seconds of work. */
const WAITING_MAX = 30

/** Too many passwords are being hashed; another one would wait too long. */
export class HashingBusy extends Error {
  constructor() {
    super('too many passwords are being hashed')
    this.name = 'HashingBusy'
  }
}

/** Makes and compares password hashes. All share one bound on what runs and waits. */
export interface PasswordHashing {
  /** The hash with its parameters and salt, as text in the PHC string format. @throws HashingBusy */
  hash(password: string): Promise<string>
  /** Takes as long for `undefined`, which nothing matches, as for a hash. @throws HashingBusy */
  matches(password: string, hash: string | undefined): Promise<boolean>
  /** Whether the hash was made with less memory or work than one made now. */
  isOutdated(hash: string): boolean
}

interface Parsed extends ScryptCost {
  readonly salt: Buffer
  readonly key: Buffer
}

/** Of equal passwords typed on different keyboards the bytes must be equal (NIST SP 800-63B §5.1.1.2). */
function bytesOf(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'), 'utf8')
}

export function createPasswordHashing(cost: ScryptCost = SCRYPT_COST): PasswordHashing {
  const slots = createSlots(AT_ONCE_MAX, { max: WAITING_MAX, refusal: () => new HashingBusy() })
  const nobody: Parsed = { ...cost, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) }
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES)
      const key = await slots.run(() => derive(password, salt, cost))
      return `$scrypt$ln=${cost.log2N},r=${cost.r},p=${cost.p}$${salt.toString('base64url')}$${key.toString('base64url')}`
    },
    async matches(password, hash) {
      const stored = hash === undefined ? nobody : parse(hash)
      const key = await slots.run(() => derive(password, stored.salt, stored))
      return timingSafeEqual(key, stored.key) && stored !== nobody
    },
    isOutdated(hash) {
      const stored = parse(hash)
      return memoryOf(stored) < memoryOf(cost) || workOf(stored) < workOf(cost)
    },
  }
}

const memoryOf = ({ log2N, r }: ScryptCost): number => 2 ** log2N * r
const workOf = (cost: ScryptCost): number => memoryOf(cost) * cost.p

const FORMAT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/

function parse(hash: string): Parsed {
  const [, log2N, r, p, salt, key] = FORMAT.exec(hash) ?? []
  if (salt === undefined || key === undefined) throw new Error('a stored password hash cannot be read')
  return {
    log2N: Number(log2N),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}

function derive(password: string, salt: Buffer, { log2N, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** log2N
  const options = { N, r, p, maxmem: 128 * N * r + 1024 * 1024 }
  return new Promise((resolve, reject) => {
    scrypt(bytesOf(password), salt, KEY_BYTES, options, (error, key) => (error === null ? resolve(key) : reject(error)))
  })
}
