import type { EnrolledState } from '../../../src/cli/agent/agent-core.ts'
import type { Enrolment } from '../../../src/cli/agent/state/agent-state.ts'
import { generateMeshKey } from '../../../src/client/agent/keys/mesh-key.ts'
import { id, issued } from '../fleet/mesh-agents.ts'

/** The state of a node that has just been enrolled. */
export function enrolledState(more: Partial<Enrolment> = {}): EnrolledState {
  return {
    format: 1,
    server: { url: 'http://127.0.0.1:7443' },
    machine: { interface_name: 'ctl0', listen_port: 51_820, mtu: 1420, is_userspace: false, names: 'none' },
    enrolment: {
      node_id: id(1),
      domain_id: id(99),
      name: 'web-1',
      mesh_address: '100.64.0.1',
      mesh_cidr: '100.64.0.0/10',
      nsk: 'nsk_local_0197a00000007000800000000000a001_AbCdEfGh_------------------------------------------8',
      private_key: generateMeshKey().privateKey,
      psk_issued_at: issued(1),
      heartbeat_interval_seconds: 30,
      epochs: {},
      executions: {},
      ...more,
    },
  }
}
