type Report = (subject: string, error: unknown) => void

/**
 * Passes on what is reported of each subject at most once in `everyMs`: what fails on every pass, several times a second,
 * would fill the disk whose fullness may be its cause. Subjects must be few, since each is remembered.
 */
export function throttledReporter(report: Report, everyMs: number, monotonicMs: () => number): Report {
  const reportedAt = new Map<string, number>()
  return (subject, error) => {
    const last = reportedAt.get(subject)
    if (last !== undefined && monotonicMs() - last < everyMs) return
    reportedAt.set(subject, monotonicMs())
    report(subject, error)
  }
}
