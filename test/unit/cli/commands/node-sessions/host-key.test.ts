import { afterAll, describe, expect, it } from 'vitest'
import { createCliHome } from '../../../../support/cli/cli-run.ts'

const REPORTED = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const SHOWN = 'SHA256:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB'

describe('The command that ssh asks for known host keys', () => {
  const home = createCliHome()
  afterAll(() => home.remove())
  const ask = (fingerprint: string, hostKey = REPORTED) =>
    home.run(['__ssh-host-key', fingerprint, 'ssh-ed25519', 'AAAAC3', 'node-id'], {
      env: {
        CTL_SSH_SESSION_TOKEN: 't',
        CTL_SSH_ADDRESS: '100.64.0.3',
        CTL_SSH_NAME: 'web-1',
        CTL_SSH_HOST_KEY: hostKey,
      },
    })

  it('prints the shown key where its fingerprint is the reported one', async () => {
    expect(await ask(REPORTED)).toMatchObject({ stdout: 'node-id ssh-ed25519 AAAAC3\n', stderr: '', exitCode: 0 })
  })

  it('prints none for another fingerprint, and names both', async () => {
    const { stdout, stderr } = await ask(SHOWN)
    expect(stdout).toBe('')
    expect(stderr).toContain(`web-1 shows the host key ${SHOWN}, and its agent has reported ${REPORTED}`)
  })

  it('prints none before there is a key, and none where none was reported', async () => {
    expect(await ask('NONE')).toMatchObject({ stdout: '', stderr: '', exitCode: 0 })
    expect((await ask('', '')).stdout).toBe('')
  })

  it('is not for people', async () => {
    const { exitCode, stdout } = await home.run(['__ssh-host-key', REPORTED, 'ssh-ed25519', 'AAAAC3', 'node-id'])
    expect([exitCode, stdout]).toEqual([2, ''])
  })
})
