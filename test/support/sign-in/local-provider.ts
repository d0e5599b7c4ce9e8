import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import pino from 'pino'
import { bindProvider } from '../../../src/server/adapters/bundled-provider/binding.ts'
import { createBundledProvider } from '../../../src/server/adapters/bundled-provider/bundled-provider.ts'
import { createAccountPages } from '../../../src/server/slices/local-accounts/account-pages.ts'
import { addAccount } from '../../../src/server/slices/local-accounts/add-account.ts'
import { createUsers } from '../../../src/server/slices/identities/users.ts'
import { createLocalAccounts } from '../../../src/server/slices/local-accounts/service.ts'
import { createLocalSignIn } from '../../../src/server/slices/local-accounts/sign-in.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import type { LocalSignIn } from '../../../src/server/ports/local-sign-in.ts'
import type { AuditEntry } from '../../../src/server/ports/unit-of-work.ts'
import { localAccounts } from '../../../src/shared/contract/local-accounts.ts'
import { createOwnFactors } from '../../../src/server/slices/local-accounts/own-factors.ts'
import { ownFactors } from '../../../src/shared/contract/own-factors.ts'
import { browserSessions, type BrowserSessions, type OpenSession } from './browser-sessions.ts'
import type { Backend } from '../../../src/server/composition/backend.ts'
import { hashing } from '../server/hashing.ts'
import type { TestStore } from '../datastores/stores.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'

/** A password that is taken anywhere. */
export const PASSWORD = 'seven grey herons wade'

/** The bundled provider on a listener of its own, over the datastore of a control plane that has its accounts. */
export interface LocalProvider {
  readonly tenancy: Tenancy
  readonly signIn: LocalSignIn
  readonly baseUrl: string
  /** Principals whose sessions were ended, in order. */
  readonly ended: string[]
  /** Refusals as they are audited. */
  readonly refused: AuditEntry[]
  /** Adds an account with the password; it need not be changed unless said otherwise. */
  account(login: string, options?: { readonly isOneTime?: boolean }): Promise<{ id: string; userId: string }>
  /** Ends the listener and starts it anew, as a restart of the process does. */
  restart(): Promise<void>
  /** Opens a browser session of the user that began at `authTimeMs`. */
  browser(userId: string, authTimeMs?: number, acr?: string): Promise<OpenSession>
  stop(): Promise<void>
}

export async function startLocalProvider(store: TestStore, host = '127.0.0.1'): Promise<LocalProvider> {
  const ended: string[] = []
  const refused: AuditEntry[] = []
  const onRefused = (entry: AuditEntry): void => void refused.push(entry)
  const sessions = {
    endAllOf: async (_change: unknown, id: string) => ended.push(id),
    endOthersOf: async (_change: unknown, id: string, keptId: string) => ended.push(`${id} but ${keptId}`),
  }
  let openBrowser: BrowserSessions['open'] | undefined
  const tenancy = await startTenancy(store, (parts) => {
    const handlers = createLocalAccounts({
      ...parts,
      users: createUsers(parts),
      sessions,
      hashing,
      heldCalls: { mostAsked: async () => 0 },
    })
    const factors = createOwnFactors({ ...parts, sessions })
    const browsers = browserSessions(parts)
    openBrowser = browsers.open
    return {
      surfaces: [mounted(localAccounts, handlers), mounted(ownFactors, factors)],
      resolvers: [browsers.resolver],
      pages: createAccountPages({
        ...parts,
        sessions: { ...sessions, csrfToken: browsers.sessions.csrfToken },
        hashing,
        onRefused,
        beginSignIn: async ({ returnTo }) => ({ location: `/sign-in?then=${returnTo}`, cookies: [] }),
      }),
    }
  })
  const port = await freePort()
  const baseUrl = `http://${host}:${port}`
  await tenancy.change(({ db }) => bindProvider(db, baseUrl, { ids: tenancy.ids, at: new Date(tenancy.clock.nowMs) }))
  const signIn = createLocalSignIn({ ...tenancy, sessions, hashing, onRefused })
  let server = await listen(tenancy, { baseUrl, port, signIn })
  return {
    tenancy,
    signIn,
    baseUrl,
    ended,
    refused,
    async account(login, { isOneTime = false } = {}) {
      const [id, userId] = [tenancy.ids.next(), tenancy.ids.next()]
      const passwordHash = await hashing.hash(PASSWORD)
      const names = { login, displayName: `The ${login}`, email: `${login}@example.com` }
      const draft = { id, userId, ...names, domainId: tenancy.home, passwordHash, createdAt: new Date() }
      await tenancy.change((change) => addAccount(change, createUsers(tenancy), draft))
      const row = tenancy.db.updateTable('local_accounts').set({ must_change_password: isOneTime })
      await row.where('id', '=', id).execute()
      return { id, userId }
    },
    browser(...session) {
      if (openBrowser === undefined) throw new Error('the control plane took no resolver')
      return openBrowser(...session)
    },
    async restart() {
      await close(server)
      server = await listen(tenancy, { baseUrl, port, signIn })
    },
    async stop() {
      await close(server)
      await tenancy.stop()
    },
  }
}

interface Listening {
  readonly baseUrl: string
  readonly port: number
  readonly signIn: LocalSignIn
}

async function listen(parts: Backend, { baseUrl, port, signIn }: Listening) {
  const { handle } = createBundledProvider({
    ...parts,
    baseUrl,
    signIn,
    // The library goes by the real time.
    clock: { now: () => Date.now() },
    log: pino({ level: 'error' }),
    clientAddress: () => '192.0.2.1',
    takeAddress: () => 0,
  })
  const server = createHttpServer((request, response) => {
    // A connection that is kept would not outlive a restart, and its client find out too late.
    response.setHeader('connection', 'close')
    handle(request, response)
  })
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
  return server
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => void server.close(resolve))
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  // Listening on TCP.
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => void server.close(resolve))
  return port
}
