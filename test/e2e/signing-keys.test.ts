import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'

describe.skipIf(requirement('postgresql') === undefined)('two servers on one PostgreSQL', () => {
  test('publish the same keys in the same order soon after one of them was asked to rotate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ctl-signing-keys-'))
    const cluster = await startPostgresCluster()
    const running: CtlProcess[] = []
    onTestFinished(async () => {
      await Promise.all(running.map((server) => server.end('SIGTERM')))
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    const start = async (): Promise<CtlProcess> => {
      const server = await startCtl({ args: ['--data-dir', folder, '--database-url', cluster.url] })
      running.push(server)
      return server
    }
    const [here, there] = [await start(), await start()]
    const before = await keysOf(here)
    expect(before).toMatchObject([{ state: 'current' }])
    expect(await keysOf(there)).toEqual(before)

    const authorization = `Bearer ${readFileSync(join(folder, 'bootstrap-token'), 'utf8').trim()}`
    const rotated = await fetch(`${here.url}/v1/signing-keys/rotate`, { method: 'POST', headers: { authorization } })
    expect(rotated.status).toBe(200)

    const after = await keysOf(here)
    expect(after.map(({ state }) => state)).toEqual(['current', 'next'])
    // Every 15 s a server reads the keys anew.
    await expect.poll(() => keysOf(there), { timeout: 40_000, interval: 100 }).toEqual(after)
  }, 120_000)
})

async function keysOf({ url }: CtlProcess): Promise<readonly { readonly state: string }[]> {
  const answer = await fetch(`${url}/v1/signing-keys`)
  return ((await answer.json()) as { keys: readonly { readonly state: string }[] }).keys
}
