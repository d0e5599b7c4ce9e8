import { defineCommand } from '../../argv/command.ts'
import { usageError } from '../../errors/cli-error.ts'
import { readSshVariables } from './ssh-environment.ts'

/** What ssh passes before it has seen a key, to learn which algorithms to prefer. */
const NO_KEY = 'NONE'

/**
 * The KnownHostsCommand of `ctl ssh`: prints the key that the server shows as a known one if its fingerprint is the one that the
 * agent of the node reported, and nothing otherwise, so that ssh refuses it.
 */
export const sshHostKey = defineCommand({
  args: [
    { name: 'fingerprint', describe: 'Of the shown key', required: true },
    { name: 'type', describe: 'Of the shown key', required: true },
    { name: 'key', describe: 'In base64', required: true },
    { name: 'host', describe: 'As ssh searches for it', required: true },
  ],
  async run(session, { args: [fingerprint = '', type = '', key = '', host = ''] }) {
    const given = readSshVariables(session.io.env)
    if (given === undefined) throw usageError('ssh runs this command for ctl ssh')
    if (fingerprint === given.hostKey && fingerprint !== '') return session.io.stdout.write(`${host} ${type} ${key}\n`)
    if (fingerprint !== NO_KEY)
      session.warn(
        `${given.name} shows the host key ${fingerprint}, and its agent has reported ${given.hostKey}: another machine answers, or its key was replaced since the agent started`,
      )
    return undefined
  },
})
