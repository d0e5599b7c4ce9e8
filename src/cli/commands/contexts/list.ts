import { defineCommand } from '../../argv/command.ts'

export const list = defineCommand({
  uses: ['output'],
  async run(session) {
    const file = await session.contexts.read()
    const rows = []
    for (const [name, stored] of Object.entries(file.contexts)) {
      const { url, domain, project } = stored
      const isSignedIn = await session.contexts.hasToken(name, url)
      rows.push({
        current: name === file.current ? '*' : '',
        name,
        url,
        domain: domain ?? null,
        project: project ?? null,
        signed_in: isSignedIn,
        protected: stored.protected === true,
        token_store: stored.token_store,
      })
    }
    if (rows.length === 0) session.note('There are no contexts yet; "ctl login" makes one.')
    await session.emit(rows, {
      columns: ['current', 'name', 'url', 'signed_in', 'protected', 'domain', 'project'],
      wide: ['token_store'],
      members: [],
    })
  },
})
