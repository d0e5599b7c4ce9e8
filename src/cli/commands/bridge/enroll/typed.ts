import { isIP } from 'node:net'
import type { FlagSpecs, FlagValues } from '../../../argv/flags.ts'
import { usageError } from '../../../errors/cli-error.ts'
import { isText } from '../../../output/screen.ts'
import { BRIDGE } from '../../../session/only-bridge.ts'
import type { Session } from '../../../session/session.ts'
import { BRIDGE_PLACES } from '../place.ts'

export const ENROLL_FLAGS = {
  name: {
    kind: 'text',
    value: 'NAME',
    describe: 'Name of the device, unique in the provider, such as ann-phone',
    required: true,
  },
  out: { kind: 'text', value: 'FILE', describe: 'Write the configuration to a new file that only you can read' },
  qr: { kind: 'switch', describe: 'Draw the configuration as a QR code, for the WireGuard app of a phone' },
  endpoint: {
    kind: 'text',
    value: 'HOST[:PORT]',
    describe: 'Where the device reaches a host of the bridge',
    fallback: 'the address of the first host that is known, and the port of the provider',
  },
  dns: { kind: 'text', value: 'ADDRESS', describe: 'Name server for the device', fallback: 'none' },
  bridge: { kind: 'text', value: 'BRIDGE', noun: BRIDGE, describe: 'Bridge; the only one of the Project when absent' },
  ...BRIDGE_PLACES,
} as const satisfies FlagSpecs

/** What was typed, once it is known to make sense. */
export interface Typed {
  readonly name: string
  readonly out: string | undefined
  readonly isQr: boolean
  readonly endpoint: string | undefined
  readonly dns: string | undefined
}

/** Reads the flags. Throws a usage error. */
export async function typedOf(session: Session, flags: FlagValues<typeof ENROLL_FLAGS>): Promise<Typed> {
  const { name, out, qr, endpoint, dns } = flags
  if (name === undefined) throw usageError('--name is missing', 'Add --name NAME, such as --name ann-phone')
  if (dns !== undefined && isIP(dns) === 0)
    throw usageError(`--dns needs an address, not "${dns}"`, 'For example: --dns 192.0.2.53')
  if (qr === true) await requirePicture(session, out)
  return { name, out, isQr: qr === true, endpoint, dns }
}

async function requirePicture(session: Session, out: string | undefined): Promise<void> {
  if (out !== undefined) throw usageError('--qr and --out exclude each other', 'Give one of them')
  if (!(await isText(session))) throw usageError('--qr is for people: -o json and --jq have the configuration as text')
}
