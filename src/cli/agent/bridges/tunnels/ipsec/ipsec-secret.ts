import { z } from 'zod'
import { parseAddress } from '../../../../../shared/networks/cidr.ts'
import { readSubnet } from '../../../../../shared/bridges/subnet.ts'
import { readSecret } from '../read-secret.ts'

const FORM = '{"psk": "0x" and hexadecimal or "0s" and base64, "local_id"?, "remote_id"?, "local_subnets"?: [networks]}'
/** Of a host name or a mail address. What else strongSwan would read in an identity has other characters. */
const IDENTITY = /^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?(?:@[a-z0-9](?:[a-z0-9._-]{0,120}[a-z0-9])?)?$/i
const PSK = /^0x(?:[0-9a-f]{2})+$|^0s(?:[a-z0-9+/]{4})*(?:[a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?$/i
const PSK_BYTES_MIN = 16
const PSK_BYTES_MAX = 512
const SUBNETS_MAX = 16

/** What the secret of an IPsec tunnel holds, checked. */
export interface IpsecSecret {
  readonly psk: Uint8Array
  /** Undefined: the address of this machine. */
  readonly localId: string | undefined
  /** Undefined: the host that the tunnel names. */
  readonly remoteId: string | undefined
  /** What the other end is offered of the mesh; undefined: all of it. */
  readonly localSubnets: readonly string[] | undefined
}

const Identity = z.string().refine((text) => IDENTITY.test(text) || parseAddress(text) !== undefined, {
  error: 'is missing or malformed',
})
const Shape = z.strictObject({
  psk: z
    .string()
    .regex(PSK)
    .transform(bytesOf)
    .refine(({ length }) => length >= PSK_BYTES_MIN && length <= PSK_BYTES_MAX, {
      error: `is not ${PSK_BYTES_MIN} to ${PSK_BYTES_MAX} bytes long`,
    }),
  local_id: Identity.optional(),
  remote_id: Identity.optional(),
  local_subnets: z
    .array(z.string().refine((text) => readSubnet(text).ok, { error: 'is not a network' }))
    .min(1)
    .max(SUBNETS_MAX)
    .optional(),
})

/** Reads the secret of an IPsec tunnel. @throws CliError with what is wrong with it, without a value of it. */
export function readIpsecSecret(secret: Uint8Array): IpsecSecret {
  const { psk, local_id: localId, remote_id: remoteId, local_subnets: localSubnets } = readSecret(secret, Shape, FORM)
  return { psk, localId, remoteId, localSubnets }
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text.slice(2), text.startsWith('0x') ? 'hex' : 'base64')
}
