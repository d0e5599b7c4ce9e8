import { afterEach, beforeEach } from 'vitest'
import { createCliHome, type CliHome, type CliOptions, type CliResult } from './cli-run.ts'
import { startStub, type StubRoutes, type StubServer } from './stub-server.ts'
import { words } from './transcript.ts'

/** The command line of the running test. Its parts are for hooks and tests only, and differ from test to test. */
export interface StubbedCli {
  readonly home: CliHome
  /** The last one started; undefined before the test starts one. */
  readonly stub: StubServer | undefined
  /** Starts a stub in place of the one before. */
  serve(routes: StubRoutes): Promise<StubServer>
  /** Runs a line, without the `ctl` before it, against a new stub of these routes. */
  run(line: string, routes: StubRoutes, options?: CliOptions): Promise<CliResult>
}

/**
 * Makes a home before each test of the surrounding `describe`; removes it and closes the stub after the test, so that
 * no test has to.
 */
export function useStubbedCli(env: Readonly<Record<string, string>> = {}): StubbedCli {
  let home: CliHome
  let stub: StubServer | undefined
  const close = async (): Promise<void> => {
    await stub?.close()
    stub = undefined
  }
  const serve = async (routes: StubRoutes): Promise<StubServer> => {
    await close()
    stub = await startStub(routes)
    return stub
  }
  beforeEach(() => {
    home = createCliHome(env)
  })
  afterEach(async () => {
    home.remove()
    await close()
  })
  return {
    get home() {
      return home
    },
    get stub() {
      return stub
    },
    serve,
    async run(line, routes, options = {}) {
      const { url } = await serve(routes)
      return home.run(words(`ctl ${line}`), { ...options, env: { CTL_URL: url, ...options.env } })
    },
  }
}
