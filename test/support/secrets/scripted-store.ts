import {
  secretStoreUnavailable,
  type SecretStore,
  type SecretStoreFault,
} from '../../../src/server/ports/secret-store.ts'

type Method = 'put' | 'get' | 'newest' | 'destroy' | 'ping'

/** A step of a call of the store: before it is sent, or after it was carried out and before its answer. */
export type Step = `${'before' | 'after'} ${Method}`

/** A secret store whose calls fail, or do something else first, where the test says so. */
export interface ScriptedStore extends SecretStore {
  /** Fails each call at that step, until it is cleared. */
  failsAt(step: Step | undefined, fault?: SecretStoreFault): void
  /** Runs once, at the next call of that step. */
  once(step: Step, work: () => unknown): void
  /** Methods that were called, in order. */
  readonly calls: Method[]
}

export function scriptedStore(store: SecretStore): ScriptedStore {
  let failing: { readonly step: Step; readonly fault: SecretStoreFault } | undefined
  const works = new Map<Step, () => unknown>()
  const calls: Method[] = []

  async function reach(step: Step): Promise<void> {
    const work = works.get(step)
    works.delete(step)
    await work?.()
    if (failing?.step === step) throw secretStoreUnavailable(failing.fault, 'the test says so')
  }

  async function around<T>(method: Method, call: () => Promise<T>): Promise<T> {
    calls.push(method)
    await reach(`before ${method}`)
    const result = await call()
    await reach(`after ${method}`)
    return result
  }

  return {
    kind: store.kind,
    calls,
    failsAt(step, fault = 'unreachable') {
      failing = step && { step, fault }
    },
    once: (step, work) => void works.set(step, work),
    put: (path, bytes, cas) => around('put', () => store.put(path, bytes, cas)),
    get: (path, version) => around('get', () => store.get(path, version)),
    newest: (path) => around('newest', () => store.newest(path)),
    destroy: (path, version) => around('destroy', () => store.destroy(path, version)),
    ping: () => around('ping', () => store.ping()),
  }
}
