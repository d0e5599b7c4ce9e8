import { createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createKeyring, type Ring, type RingKey } from '../../../../../src/server/adapters/keyring/ring.ts'
import { createApiTokenResolver } from '../../../../../src/server/slices/tokens/api-token-resolver.ts'
import { mintApiToken, mintJoinToken } from '../../../../../src/shared/credential-formats.ts'

const ID = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

const keyOf = (purpose: RingKey['purpose']): readonly [RingKey] => [
  { id: purpose, purpose, secret: createSecretKey(Buffer.alloc(32, purpose.length)) },
]
const ring: Ring = {
  cursor: keyOf('cursor'),
  fingerprint: keyOf('fingerprint'),
  pseudonym: keyOf('pseudonym'),
  sealing: keyOf('sealing'),
  session: keyOf('session'),
}

/** Over a datastore that must not be asked. */
function resolver() {
  const untouched = () => expect.fail('the datastore was asked')
  return createApiTokenResolver({
    datastore: { kind: 'postgres', pool: untouched, transaction: untouched, ping: untouched, close: untouched },
    keyring: createKeyring(ring),
    changeFeed: {
      isFresh: () => true,
      untilFresh: async () => true,
      revision: () => 0n,
      waitFor: untouched,
      subscribe: () => undefined,
    },
    clock: { now: () => 0 },
    lastUses: { note: untouched, flush: untouched },
  })
}

describe('what is no API token', () => {
  it('is not recognised', () => {
    const tokens = resolver()
    const recognized = ['psk_anything', 'nsk_x', 'eyJhbGciOi', ''].filter((text) => tokens.recognizes(text))
    expect(recognized).toEqual(['psk_anything'])
  })

  const { token } = mintApiToken('test', ID)
  const wrongSum = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
  it.each([
    ['with a wrong checksum', wrongSum],
    ['cut short', token.slice(0, -1)],
    ['with more behind it', `${token}0`],
    ['of another kind', mintJoinToken('test', ID).token.replace('jtk', 'psk')],
    ['endless', `psk_${'x'.repeat(10_000)}`],
    ['with a bare beginning', 'psk_'],
  ])('%s is refused without asking the datastore', async (_what, text) => {
    expect(await resolver().resolve(text)).toEqual({
      refused: true,
      log: 'not an API token: its form or checksum is wrong',
    })
  })
})
