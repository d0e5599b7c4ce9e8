import type { NodeSummary, Topology } from '../api/operations.ts'

/** What a picture needs: the nodes, the chosen one, and the edges that are known. */
export interface PictureProps {
  readonly nodes: readonly NodeSummary[]
  readonly width: number
  readonly chosen: string | undefined
  readonly onChoose: (id: string) => void
  readonly edges: Topology['edges']
}
