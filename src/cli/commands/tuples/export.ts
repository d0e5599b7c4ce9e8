import { resolve } from 'node:path'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { openExportSink, type ExportSink } from '../audit/export-sink.ts'
import type { Command, Given } from '../../argv/command.ts'
import { placeFlag } from '../../derive/places.ts'
import { createProgress, type Progress } from '../../output/progress.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { currentProject, listedTuples, type ListedTuple } from './tuple-reference.ts'
import { ROWS_MAX } from './tuple-source.ts'
import { TUPLE_FORMS, writerOf } from './tuple-writer.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function exportTuples(manifest: Manifest): Command {
  operationOf(manifest, 'ListRelationTuples')
  return {
    description:
      'Every tuple of a Project that you may read, so that an import makes the same ones again. Parent edges are not among them: the service writes those with the objects.',
    flags: {
      project: { ...placeFlag('projects'), describe: 'Project whose tuples to write' },
      domain: placeFlag('domains'),
      format: {
        kind: 'text',
        choices: TUPLE_FORMS,
        fallback: 'jsonl',
        describe: 'JSON lines, a YAML list, or relationships as SpiceDB writes them',
      },
      output: {
        kind: 'text',
        value: 'FILE',
        describe: 'Write to a file, which appears once it is whole; stdout when absent',
      },
    },
    uses: ['connection'],
    examples: [
      'ctl tuples export --project web --output tuples.jsonl',
      'ctl tuples export --project web --format relationships',
    ],
    run,
  }
}

async function run(session: Session, { flags }: Given): Promise<void> {
  const project = await currentProject(createResolver(session))
  const { output } = flags
  const path = typeof output === 'string' ? output : undefined
  const sink = await openExportSink(session.io, path === undefined ? undefined : resolve(session.io.cwd, path))
  const progress = createProgress(session, 'tuples')
  try {
    const count = await writeAll({ session, project, flags, sink, progress })
    await sink.keep()
    progress.end()
    say(session, count)
  } catch (error) {
    progress.end()
    await sink.discard()
    if (path !== undefined) session.note(`Nothing was written to ${path}.`)
    throw error
  }
}

interface Writing {
  readonly session: Session
  readonly project: string
  readonly flags: Given['flags']
  readonly sink: ExportSink
  readonly progress: Progress
}

/** Tuples that are written at a time. */
const PIECE = 200

async function writeAll({ session, project, flags, sink, progress }: Writing): Promise<number> {
  const textOf = await writerOf(TUPLE_FORMS.find((form) => form === flags['format']) ?? 'jsonl')
  let piece: ListedTuple[] = []
  let count = 0
  const flush = async (): Promise<void> => {
    await sink.write(textOf(piece))
    piece = []
    progress.at(count)
  }
  for await (const tuple of listedTuples(session, project)) {
    count += 1
    if (piece.push(tuple) >= PIECE) await flush()
  }
  await flush()
  return count
}

function say(session: Session, count: number): void {
  session.note(count === 0 ? 'There is nothing to export.' : `Exported ${count} tuple${count === 1 ? '' : 's'}.`)
  if (count > ROWS_MAX) session.note(`An import takes ${ROWS_MAX} at a time: split -l ${ROWS_MAX} FILE part-`)
}
