import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import type { ContextFile } from '../../session/contexts.ts'
import { checkedName, chosenMembers, CONTEXT_FLAGS } from './known.ts'

export const add = defineCommand({
  args: [{ name: 'name', describe: 'Name of the context', required: true }],
  flags: {
    url: { kind: 'text', value: 'URL', required: true, describe: 'Server, e.g. https://mesh.example.com' },
    ...CONTEXT_FLAGS,
  },
  examples: [
    'ctl contexts add prod --url https://mesh.example.com --protected',
    'ctl contexts add lab --url http://127.0.0.1:7443 --project web',
    'ctl contexts add home --url https://192.0.2.7:7443 --ca-sha256 HEX',
  ],
  async run(session, { args, flags }) {
    const name = checkedName(args[0])
    const { url } = flags
    if (url === undefined) throw usageError('--url is missing', 'Add --url https://…')
    if (!/^(https?|unix):./.test(url)) throw usageError(`${url} is not an http:, https: or unix: URL`)
    refuseTaken(await session.contexts.read(), name)
    const server = url.replace(/(?<!\/)\/+$/, '')
    const chosen = await chosenMembers(session, flags, server)
    const { current } = await session.contexts.update((file) => {
      refuseTaken(file, name)
      const stored = { url: server, token_store: 'file' as const, ...chosen }
      return { ...file, current: file.current ?? name, contexts: { ...file.contexts, [name]: stored } }
    })
    session.note(
      `Added context ${name}${current === name ? ', which is in use now' : `; use it with: ctl contexts use ${name}`}.`,
    )
    session.note(`Sign in with: ctl login --context ${name}`)
  },
})

function refuseTaken({ contexts }: ContextFile, name: string): void {
  if (Object.hasOwn(contexts, name))
    throw usageError(
      `there is a context "${name}" already`,
      `Change it with: ctl contexts use ${name} …, or remove it first`,
    )
}
