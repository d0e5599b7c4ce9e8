import { afterEach, beforeEach, expect, it } from 'vitest'
import { createCliHome, type CliHome } from '../../../support/cli-run.ts'
import { rotatingFleet, type RotatingFleet } from '../../../support/rotating-fleet.ts'
import { startStub, type StubServer } from '../../../support/stub-server.ts'

let home: CliHome
let stub: StubServer | undefined
beforeEach(() => {
  home = createCliHome({ CTL_TOKEN: 'psk_local_x' })
})
afterEach(async () => {
  home.remove()
  await stub?.close()
})

async function verify({ routes }: RotatingFleet) {
  stub = await startStub(routes)
  const argv = ['nodes', 'verify-epochs']
  return home.run(argv, { env: { CTL_URL: stub.url } })
}

it('exits 0 when all agree', async () => {
  const { exitCode, stderr } = await verify(rotatingFleet(['a-1', 'a-2']))
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('2 of 2 nodes agree with the server')])
})

it('exits 10 when one does not, and shows it', async () => {
  const fleet = rotatingFleet(['a-1', 'a-2'], (all) => (all.node('a-2').isWrong = true))
  const { exitCode, stdout, stderr } = await verify(fleet)
  expect([exitCode, stderr]).toEqual([10, expect.stringContaining('1 of 2 nodes agree with the server')])
  expect(stdout).toContain('epochs_differ')
})
