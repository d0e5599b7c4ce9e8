import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentMesh } from './agent-mesh.ts'
import { lineChild } from './line-child.ts'
import type { Box } from './lab.ts'

/** A call of the API. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: object
}

/** Makes calls at the same time, and resolves with the bodies of their answers. @throws Error for an answer that is no success */
export type ApiCaller = (calls: readonly ApiCall[]) => Promise<readonly unknown[]>

const CHILD = fileURLToPath(new URL('api-child.mjs', import.meta.url))

/** Makes calls as the operator, in one process in a box: each `ctl` is a process of its own. */
export async function createApiCaller(mesh: AgentMesh, box: Box): Promise<ApiCaller> {
  const token = join(mesh.dataDirectory, 'bootstrap-token')
  const ask = await lineChild(mesh.lab, box, [process.execPath, CHILD, mesh.url, token])
  return async (calls) => {
    const answers = (await ask(calls)) as readonly { readonly status: number; readonly body: unknown }[]
    return answers.map(({ status, body }, index) => {
      if (status < 300) return body
      throw new Error(`${JSON.stringify(calls[index])}: ${status} ${JSON.stringify(body)}`)
    })
  }
}
