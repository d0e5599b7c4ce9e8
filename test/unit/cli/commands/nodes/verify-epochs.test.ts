import { expect, it } from 'vitest'
import { rotatingFleet, type RotatingFleet } from '../../../../support/fleet/rotating-fleet.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
const verify = ({ routes }: RotatingFleet) => cli.run('nodes verify-epochs', routes)

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
