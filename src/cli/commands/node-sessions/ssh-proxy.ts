import { defineCommand } from '../../argv/command.ts'
import { usageError } from '../../errors/cli-error.ts'
import { openThrough } from './far-connection.ts'
import { readSshVariables } from './ssh-environment.ts'
import { relayStdio } from './stdio.ts'

/** The ProxyCommand of `ctl ssh`: ssh talks to the node through its stdin and stdout. */
export const sshProxy = defineCommand({
  async run({ io }) {
    const given = readSshVariables(io.env)
    const streams = io.bytes?.()
    if (given === undefined || streams === undefined) throw usageError('ssh runs this command for ctl ssh')
    const socket = await openThrough(given, given.token)
    // ssh learns that its server has gone by the end of this command alone, and keeps stdin open until then.
    socket.allowHalfOpen = false
    await relayStdio(socket, streams)
  },
})
