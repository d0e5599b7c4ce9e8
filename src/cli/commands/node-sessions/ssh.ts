import { spawn, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { defineCommand, type Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { CliError, usageError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'
import { assertReachable } from './far-connection.ts'
import { findFarNode } from './far-node.ts'
import { issueSession, SESSION_FLAGS } from './issued-session.ts'
import { sshArguments, sshDestination } from './ssh-arguments.ts'
import { sshVariables } from './ssh-environment.ts'

const FLAGS = {
  port: { kind: 'integer', value: 'PORT', describe: 'Port of the SSH server on the node', fallback: '22' },
  'accept-new-host-key': {
    kind: 'switch',
    describe: 'Trust the first host key that answers where the agent of the node has reported none',
  },
  ttl: {
    kind: 'duration',
    describe: 'Lifetime of the session, which cuts the connection; at most 12h',
    fallback: '12h',
  },
  ...SESSION_FLAGS,
} as const satisfies FlagSpecs

const TTL_SECONDS = 43_200
const PORT_MAX = 65_535

export const ssh = defineCommand({
  description: [
    'Issues a mediated session and runs the ssh of this machine through it, to the SSH server of the node. Everything after -- is for ssh: its options, and the command. Both this machine and the node have to be in the mesh, and a policy has to let this one reach TCP 7444 there.',
    'The host key has to be the one that the agent of the node has reported, whatever the configuration of ssh says. Needs OpenSSH 8.5 or newer. The session is audited, and is revoked when ssh ends.',
    'Exits as ssh does: with the exit code of the command, or 255 where ssh failed. Exits 130 after Ctrl-C and 8 where the node cannot be reached.',
  ].join('\n'),
  args: [
    { name: '[user@]node', describe: 'Node, and the login there', required: true, noun: 'nodes' },
    { name: 'ssh-argument', describe: 'Arguments of ssh and the command, after --', many: true },
  ],
  flags: FLAGS,
  uses: ['connection'],
  examples: ['ctl ssh web-1', 'ctl ssh deploy@web-1 -- uptime', 'ctl ssh web-1 -- -L 8080:127.0.0.1:80 -N'],
  run: (session, given) => sshThrough(session, given),
})

async function sshThrough(session: Session, { args, flags }: Given<typeof FLAGS>): Promise<ExitCode> {
  const [word = '', ...rest] = args
  const { user, reference } = sshDestination(word)
  const target = `127.0.0.1:${portOf(flags.port ?? 22)}`
  const node = await findFarNode(session, { reference })
  const argv = sshArguments({ node, user, rest, acceptsNewHostKey: flags['accept-new-host-key'] === true })
  await assertReachable({ name: node.name, address: node.meshAddress, target })
  const issued = await issueSession(session, {
    node,
    kind: 'ssh',
    target,
    ttlSeconds: flags.ttl ?? TTL_SECONDS,
    idleSeconds: flags['idle-timeout'],
  })
  try {
    return await runSsh(session, argv, { ...session.io.env, ...sshVariables(node, issued) })
  } finally {
    await issued.revoke()
  }
}

function portOf(port: number): number {
  if (port >= 1 && port <= PORT_MAX) return port
  throw usageError(`--port is between 1 and ${PORT_MAX}, not ${port}`)
}

/** Resolves with the exit code of ssh, which has the terminal meanwhile. */
async function runSsh(session: Session, argv: readonly string[], env: Readonly<NodeJS.ProcessEnv>): Promise<ExitCode> {
  const { interrupted } = session.io
  const child = spawn('ssh', argv, { stdio: 'inherit', env })
  const stop = (): void => void child.kill('SIGTERM')
  interrupted.addEventListener('abort', stop, { once: true })
  try {
    const code = await endOf(child)
    // Not one of this program's codes, but that of what ssh ran.
    return interrupted.aborted ? EXIT.interrupted : (code as ExitCode)
  } finally {
    interrupted.removeEventListener('abort', stop)
  }
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(error)))
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
  })
}

function notStarted(error: Error): CliError {
  const isMissing = 'code' in error && error.code === 'ENOENT'
  return new CliError(isMissing ? 'ssh is not installed' : `ssh cannot be started: ${error.message}`, {
    exitCode: EXIT.failed,
    code: 'program_missing',
    hints: isMissing ? ['Install it: apt install openssh-client'] : [],
    cause: error,
  })
}
