import { readFile } from 'node:fs/promises'
import type { AdminCall } from '../../server/commands/admin.ts'
import type { DatastoreAccount } from '../../server/commands/admin-users-add.ts'
import type { ServeIo, SimulatedFleet } from '../../server/commands/serve.ts'
import type { contract } from '../../shared/contract/index.ts'
import { createSystemClock } from '../../client/agent/system-clock.ts'
import { defineCommand } from '../argv/command.ts'
import type { ContextFile } from '../session/contexts.ts'
import type { ExitCode } from '../errors/exit-code.ts'
import type { Session } from '../session/session.ts'

/** Hands everything after its word to the server, which has flags, help and a configuration file of its own. */
export const serve = defineCommand({
  raw: true,
  async run(session, { args }) {
    const { runServe } = await import('../../server/commands/serve.ts')
    const { stdout, stderr, env } = session.io
    const io: ServeIo = {
      stdout,
      stderr,
      keepContext: (context) => keepContext(session, context),
      simulate: (fleet) => simulateFleet(session, fleet),
    }
    // The server ends with codes of the same table.
    return (await runServe(args, env, io)) as ExitCode
  },
})

/** The server's own command, run beside it: it opens the datastore itself. */
export const bootstrapToken = defineCommand({
  raw: true,
  async run({ io }, { args }) {
    const { runBootstrapToken } = await import('../../server/commands/bootstrap-token.ts')
    return (await runBootstrapToken({ argv: args, env: io.env, stdout: io.stdout, stderr: io.stderr })) as ExitCode
  },
})

/** Likewise. */
export const rotateMasterKey = defineCommand({
  raw: true,
  async run({ io }, { args }) {
    const { runMasterKeyRotate } = await import('../../server/commands/master-key-rotate.ts')
    return (await runMasterKeyRotate({ argv: args, env: io.env, stdout: io.stdout, stderr: io.stderr })) as ExitCode
  },
})

/** Likewise. */
export const afterRestore = defineCommand({
  raw: true,
  async run({ io }, { args }) {
    const { runAfterRestore } = await import('../../server/commands/after-restore.ts')
    return (await runAfterRestore({ argv: args, env: io.env, stdout: io.stdout, stderr: io.stderr })) as ExitCode
  },
})

/** Likewise; a running server on the embedded datastore is asked instead. */
export const importArtifact = defineCommand({
  raw: true,
  async run({ io }, { args }) {
    const { runArtifactsImport } = await import('../../server/commands/artifacts.ts')
    return (await runArtifactsImport({ argv: args, env: io.env, stdout: io.stdout, stderr: io.stderr })) as ExitCode
  },
})

/** Likewise. */
export function changeArtifact(verb: 'support' | 'deprecate' | 'withdraw') {
  return defineCommand({
    raw: true,
    async run({ io }, { args }) {
      const { runArtifactsStatus } = await import('../../server/commands/artifacts.ts')
      const call = { argv: args, env: io.env, stdout: io.stdout, stderr: io.stderr }
      return (await runArtifactsStatus(call, verb)) as ExitCode
    },
  })
}

/** Likewise, for a command that the API has as well. */
export async function addOnDatastore(call: AdminCall, draft: DatastoreAccount): Promise<ExitCode> {
  const { runAdminUsersAdd } = await import('../../server/commands/admin-users-add.ts')
  return (await runAdminUsersAdd(call, draft)) as ExitCode
}

/**
 * Stores the context and makes it current. Resolves with what makes the former one current again, if it is still there.
 */
export async function keepContext(
  { contexts }: Pick<Session, 'contexts'>,
  { name, url, token }: Parameters<ServeIo['keepContext']>[0],
): Promise<() => Promise<void>> {
  await contexts.keepToken(name, { url, token })
  let former: ContextFile | undefined
  await contexts.update((file) => {
    former = file
    return {
      ...file,
      current: name,
      previous: file.current === name ? file.previous : file.current,
      contexts: { ...file.contexts, [name]: { url, dev: true, token_store: 'file' } },
    }
  })
  return async () => {
    await contexts.update((file) =>
      file.current === name ? { ...file, ...existing(file, choiceBefore(name, former)) } : file,
    )
  }
}

/** What was current before the context of that name; a server that was killed has left its own current. */
function choiceBefore(name: string, former: ContextFile | undefined): Choice {
  if (former?.current === name) return { current: former.previous, previous: undefined }
  return { current: former?.current, previous: former?.previous }
}

type Choice = Pick<ContextFile, 'current' | 'previous'>

/** A choice without contexts that were removed meanwhile. */
function existing({ contexts }: ContextFile, { current, previous }: Choice): Choice {
  const kept = (name: string | undefined): string | undefined =>
    name !== undefined && Object.hasOwn(contexts, name) ? name : undefined
  return { current: kept(current), previous: kept(previous) }
}

/** The longest time that a timer takes, about 24 days; the signal ends the fleet before. */
const AS_LONG_AS_IT_TAKES_MS = 2 ** 31 - 1

/** A fleet that reports every ten seconds and says nothing: the server is what is to be looked at. */
async function simulateFleet(
  session: Session,
  { url, authority, joinToken, nodes, signal }: SimulatedFleet,
): Promise<void> {
  const [
    { simulate },
    { createClientOver },
    { createNodeStreams },
    { createNodeWire },
    { pullsInThisThread },
    { DEFAULT_HABITS },
  ] = await Promise.all([
    import('../agent-sim/simulation.ts'),
    import('../../client/client.ts'),
    import('../../client/agent/events/node-streams.ts'),
    import('../../client/agent/calls/node-wire.ts'),
    import('../../client/agent/state/state-pulls.ts'),
    import('../agent-sim/plan.ts'),
  ])
  const trust = authority === undefined ? {} : { pinnedCa: await readFile(authority.path, 'utf8') }
  const caller = await session.caller({ url, trust, token: undefined, timeoutMs: 15_000, load: { connections: 8 } })
  const wire = createNodeWire(caller, session.manifest())
  const plan = {
    nodes,
    durationMs: AS_LONG_AS_IT_TAKES_MS,
    warmUpMs: 0,
    heartbeatIntervalMs: 10_000,
    deregister: false,
    concurrency: 4,
    failOn: [],
    habits: DEFAULT_HABITS,
    scenario: undefined,
  }
  await simulate(plan, {
    client: createClientOver<typeof contract>(caller, session.manifest()),
    streams: createNodeStreams(caller, session.manifest()),
    mesh: { wire, pulls: pullsInThisThread(wire) },
    url,
    clock: createSystemClock(),
    signal,
    stateDirectory: undefined,
    joinToken: async () => ({ token: joinToken, isEphemeral: true }),
    observe: () => undefined,
  })
}
