import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { createOpenBao, type OpenedSecretStore } from '../../src/server/adapters/openbao/openbao.ts'
import { startBaoEmulator, type BaoEmulator } from '../support/openbao/emulator.ts'
import { secretStoreContract } from './secret-store.contract.ts'

const scratch = mkdtempSync(join(tmpdir(), 'ctl-openbao-'))
const tokenFile = join(scratch, 'token')
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

function openOn(url: string, token: string): OpenedSecretStore {
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 })
  return createOpenBao({
    address: { url, namespace: process.env['CTL_TEST_BAO_NAMESPACE'], ca: undefined },
    mount: 'secret',
    login: { kind: 'token', tokenFile },
    onFailure(error) {
      throw error
    },
  })
}

describe('OpenBao, emulated', () => {
  let bao: BaoEmulator
  let store: OpenedSecretStore
  beforeAll(async () => {
    bao = await startBaoEmulator()
    store = openOn(bao.url, bao.issue())
  })
  afterAll(async () => {
    await store.close()
    await bao.stop()
  })
  secretStoreContract(() => store)
})

const real = process.env['CTL_TEST_BAO_ADDR']

describe.skipIf(real === undefined)('OpenBao or Vault at CTL_TEST_BAO_ADDR', () => {
  let store: OpenedSecretStore
  beforeAll(() => {
    store = openOn(real ?? '', process.env['CTL_TEST_BAO_TOKEN'] ?? '')
  })
  afterAll(() => store?.close())
  secretStoreContract(() => store)
})
