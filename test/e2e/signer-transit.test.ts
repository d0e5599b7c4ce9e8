import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { selfSigned } from '../support/network/self-signed.ts'
import { startBaoEmulator, type BaoEmulator } from '../support/openbao/emulator.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'

describe.skipIf(requirement('openssl') === undefined)('ctl serve --signer-url over TLS', () => {
  test('refuses a wrong key, signs with a right one, goes on without the engine, and rotates once it is back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ctl-signer-'))
    const running: CtlProcess[] = []
    const tls = selfSigned()
    let bao: BaoEmulator = await startBaoEmulator({ tls })
    onTestFinished(async () => {
      await Promise.all(running.map((server) => server.end('SIGTERM')))
      await bao.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    const [ca, tokenFile] = [join(folder, 'ca.pem'), join(folder, 'token')]
    writeFileSync(ca, tls.cert)
    writeFileSync(tokenFile, bao.issue(), { mode: 0o600 })
    const signer = ['--signer-url', `${bao.url}/transit/ctl`, '--signer-ca', ca, '--signer-token-file', tokenFile]
    const start = async (args: readonly string[] = signer): Promise<CtlProcess> => {
      const server = await startCtl({ args: ['--data-dir', join(folder, 'data'), ...args] })
      running.push(server)
      return server
    }
    const rotate = async ({ url }: CtlProcess) => {
      const authorization = `Bearer ${readFileSync(join(folder, 'data', 'bootstrap-token'), 'utf8').trim()}`
      const answer = await fetch(`${url}/v1/signing-keys/rotate`, { method: 'POST', headers: { authorization } })
      return { status: answer.status, code: ((await answer.json()) as { code?: string }).code }
    }
    const begin = { port: Number(new URL(bao.url).port), tls }

    await expect(start()).rejects.toThrow(`The Transit key transit/ctl at ${bao.url} cannot sign: there is no key ctl`)

    bao.transit.create('ctl', { type: 'ed25519' })
    let server = await start()
    const kids = async () => (await keysOf(server)).map(({ kid }) => kid)
    const [first = ''] = await kids()

    await bao.stop()
    expect(await rotate(server)).toEqual({ status: 503, code: 'signing_unavailable' })
    expect(await kids()).toEqual([first])
    const ready = (await (await fetch(`${server.url}/readyz`)).json()) as { status: string; probes: { name: string }[] }
    expect([ready.status, ready.probes.map(({ name }) => name).filter((name) => name.includes('sign'))]).toEqual([
      'ready',
      [],
    ])

    await running.pop()?.end('SIGTERM')
    server = await start()
    expect(await kids()).toEqual([first])

    bao = await startBaoEmulator({ ...begin, successorOf: bao })
    expect(await rotate(server)).toEqual({ status: 200, code: undefined })
    expect((await keysOf(server)).map(({ state }) => state)).toEqual(['current', 'next'])

    await running.pop()?.end('SIGTERM')
    await expect(start([])).rejects.toThrow('The signing keys of this database come from the Transit key transit/ctl')
    server = await start([...signer, '--signer-adopt', 'sealed'])
    expect((await keysOf(server)).map(({ state }) => state)).toEqual(['current', 'next', 'next'])
  }, 180_000)

  test('--check says in one sentence what is wrong with the key', async () => {
    const bao = await startBaoEmulator()
    const folder = mkdtempSync(join(tmpdir(), 'ctl-signer-'))
    onTestFinished(async () => {
      await bao.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    bao.transit.create('ctl', { type: 'ed25519', exportable: true })
    const tokenFile = join(folder, 'token')
    writeFileSync(tokenFile, bao.issue(), { mode: 0o600 })
    const args = [
      'bin/ctl.js',
      'serve',
      '--check',
      '--signer-url',
      `${bao.url}/transit/ctl`,
      '--signer-token-file',
      tokenFile,
    ]
    const check = () =>
      new Promise<{ code: number; said: string }>((resolve) => {
        execFile(process.execPath, args, (error, _stdout, said) => resolve({ code: Number(error?.code ?? 0), said }))
      })
    const cannot = `The Transit key transit/ctl at ${bao.url} cannot sign: `
    const exported = await check()
    expect([exported.code, exported.said.includes(`${cannot}it is exportable`)]).toEqual([1, true])
    bao.transit.keys.clear()
    bao.transit.create('ctl', { type: 'ed25519' })
    expect(await check()).toEqual({ code: 0, said: 'The configuration is valid.\n' })
    bao.moods.isSealed = true
    const sealed = await check()
    expect([sealed.code, sealed.said.includes(`${cannot}the server is sealed (HTTP 503).`)]).toEqual([8, true])
  }, 180_000)
})

async function keysOf({ url }: CtlProcess): Promise<readonly { readonly kid: string; readonly state: string }[]> {
  const answer = await fetch(`${url}/v1/signing-keys`)
  return ((await answer.json()) as { keys: readonly { readonly kid: string; readonly state: string }[] }).keys
}
