import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { openSignerOver } from '../../src/server/adapters/signing-keys/open-signer.ts'
import { createTransitKeys } from '../../src/server/adapters/transit-signer/transit-keys.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startBaoEmulator, type BaoEmulator } from '../support/openbao/emulator.ts'
import { signerContract, type SignerUnderTest } from './signer.contract.ts'

const scratch = mkdtempSync(join(tmpdir(), 'ctl-transit-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

interface Service {
  readonly url: string
  readonly token: string
}

/** Each test has a key of its own in the engine at `transit/`. */
function transitSigner(serviceOf: () => Service): SignerUnderTest {
  const tokenFile = join(scratch, randomUUID())
  let key = ''
  const closing: (() => Promise<void>)[] = []
  afterAll(async () => void (await Promise.all(closing.map((close) => close()))))
  return {
    name: 'Transit',
    async reset() {
      const { url, token } = serviceOf()
      writeFileSync(tokenFile, token, { mode: 0o600 })
      key = `ctl-test-${randomUUID()}`
      const answer = await fetch(`${url}/v1/transit/keys/${key}`, {
        method: 'POST',
        headers: { 'x-vault-token': token, ...namespaceHeader() },
        body: JSON.stringify({ type: 'ed25519' }),
      })
      if (!answer.ok) throw new Error(`the key could not be made: HTTP ${answer.status}`)
    },
    async open(datastore, clock) {
      const source = createTransitKeys({
        address: { url: serviceOf().url, namespace: process.env['CTL_TEST_BAO_NAMESPACE'], ca: undefined },
        place: { mount: 'transit', key },
        login: { kind: 'token', tokenFile },
        clock,
        onFailure(error) {
          throw error
        },
      })
      closing.push(() => source.remote.close())
      return openSignerOver({ datastore, clock, source, former: [], isMoving: false })
    },
  }
}

function namespaceHeader(): Record<string, string> {
  const { CTL_TEST_BAO_NAMESPACE: namespace } = process.env
  return namespace === undefined ? {} : { 'x-vault-namespace': namespace }
}

describe('Transit, emulated', () => {
  let bao: BaoEmulator
  let token = ''
  beforeAll(async () => {
    bao = await startBaoEmulator()
    token = bao.issue()
  })
  afterAll(() => bao.stop())
  const signer = transitSigner(() => ({ url: bao.url, token }))
  for (const store of STORES) signerContract(store, signer)
})

const real = process.env['CTL_TEST_BAO_ADDR']

describe.skipIf(real === undefined)('Transit of OpenBao or Vault at CTL_TEST_BAO_ADDR', () => {
  const signer = transitSigner(() => ({ url: real ?? '', token: process.env['CTL_TEST_BAO_TOKEN'] ?? '' }))
  for (const store of STORES) signerContract(store, signer)
})
