import { startPythonAgent, type PythonAgent } from '../fleet/python-agent.ts'
import type { AgentMesh } from './agent-mesh.ts'
import type { Box } from './lab.ts'

/** The file in which the Python agent of a box keeps its keys. */
export function pythonStateOf(mesh: AgentMesh, box: Box): string {
  return `${mesh.stateDirectory(box)}.python.json`
}

/** Makes a box a node of that name, with the agent of the examples and its WireGuard interface `ctl0`. */
export function startPythonMember(mesh: AgentMesh, box: Box, python: string): PythonAgent {
  const place = ['--url', mesh.url, '--state', pythonStateOf(mesh, box), '--heartbeat-seconds', '1']
  const joining = ['--name', box.name, '--join-token-file', mesh.tokenFile]
  return startPythonAgent(python, [...place, ...joining, '--wireguard'], box.namespace.enter)
}
