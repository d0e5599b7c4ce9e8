import { describe, expect, it } from 'vitest'
import { sshArguments, sshDestination } from '../../../../../src/cli/commands/node-sessions/ssh-arguments.ts'

const HOST_KEY = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const NODE = {
  id: '0197a000-0000-7000-8000-00000000a001',
  name: 'web-1',
  domainId: '0197a000-0000-7000-8000-00000000d001',
  projectId: null,
  meshAddress: '100.64.0.3',
  hostKey: HOST_KEY,
}
const WISH = { node: NODE, user: undefined, rest: [], acceptsNewHostKey: false }
const optionsIn = (argv: readonly string[]) => argv.filter((_, index) => argv[index - 1] === '-o')

describe('The arguments of ssh', () => {
  it('accept the reported host key and no other, whatever else is configured', () => {
    expect(optionsIn(sshArguments(WISH))).toEqual([
      'ProxyCommand="$CTL_SSH_NODE_PATH" "$CTL_SSH_MAIN_PATH" __ssh-proxy',
      'ControlMaster=no',
      'ControlPath=none',
      'ControlPersist=no',
      'StrictHostKeyChecking=yes',
      'KnownHostsCommand=/usr/bin/env ${CTL_SSH_NODE_PATH} ${CTL_SSH_MAIN_PATH} __ssh-host-key %f %t %K %H',
      'UserKnownHostsFile=/dev/null',
      'GlobalKnownHostsFile=/dev/null',
      'VerifyHostKeyDNS=no',
      'UpdateHostKeys=no',
      'FingerprintHash=sha256',
      'HostKeyAlias=0197a000-0000-7000-8000-00000000a001',
    ])
  })

  it('end with the node and what was given, so that options of the person come too late to change the others', () => {
    const argv = sshArguments({ ...WISH, user: 'deploy', rest: ['-o', 'StrictHostKeyChecking=no', 'uptime'] })
    expect(argv.slice(-6)).toEqual(['-l', 'deploy', 'web-1', '-o', 'StrictHostKeyChecking=no', 'uptime'])
  })

  it('do not exist where no host key is known, unless the first one is to be trusted', () => {
    const wish = { ...WISH, node: { ...NODE, hostKey: undefined } }
    expect(() => sshArguments(wish)).toThrow(
      'the SSH host key of web-1 is not known, since its agent has reported none',
    )
    const options = optionsIn(sshArguments({ ...wish, acceptsNewHostKey: true }))
    expect(options).toContain('StrictHostKeyChecking=accept-new')
    expect(options.join(' ')).not.toContain('KnownHosts')
  })

  it('accept only the reported key also where the first one is to be trusted', () => {
    expect(sshArguments({ ...WISH, acceptsNewHostKey: true })).toEqual(sshArguments(WISH))
  })

  it('have the id of a node whose name could be an option', () => {
    expect(sshArguments({ ...WISH, node: { ...NODE, name: '-oProxyCommand=x' } }).at(-1)).toBe(NODE.id)
  })
})

describe('The destination of ctl ssh', () => {
  it.each([
    ['web-1', { user: undefined, reference: 'web-1' }],
    ['deploy@web-1', { user: 'deploy', reference: 'web-1' }],
    ['me@corp@web-1', { user: 'me@corp', reference: 'web-1' }],
  ])('%s has a login and a node', (word, destination) => {
    expect(sshDestination(word)).toEqual(destination)
  })

  it.each(['@web-1', 'deploy@', ''])('is not %j', (word) => {
    expect(() => sshDestination(word)).toThrow('is not [USER@]NODE')
  })
})
