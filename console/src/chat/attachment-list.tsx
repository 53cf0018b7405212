import { useText } from '../text/language.js';
import { formatBytes, formatNumber } from '../ui/format.js';
import { IconButton } from '../ui/icon-button.js';
import { CloseIcon, FileIcon } from '../ui/icons.js';
import { VisibleText } from '../ui/visible-text.js';
import type { FileProblem } from './attachments.js';
import { type ChatStrings, strings } from './strings.js';
import type { Attachments } from './use-attachments.js';

export function AttachmentList({ files }: { files: Attachments }) {
  const text = useText(strings);
  return (
    <>
      {files.problems.length > 0 && (
        <div role="alert" className="px-3 pt-2 text-xs text-danger">
          <ul>
            {files.problems.map((problem) => {
              const words = problemText(problem, text);
              return <li key={words}>{words}</li>;
            })}
          </ul>
        </div>
      )}
      {files.items.length > 0 && (
        <ul aria-label={text.attached} className="flex max-h-40 flex-wrap gap-2 overflow-y-auto px-3 pt-3">
          {files.items.map(({ id, name, bytes, preview }) => (
            <li
              key={id}
              className="flex max-w-60 items-center gap-2 rounded-md border border-line bg-bg py-1 pr-1 pl-1.5 text-xs"
            >
              {preview === undefined ? (
                <FileIcon className="shrink-0 text-muted" />
              ) : (
                <img src={preview} alt="" className="size-9 shrink-0 rounded object-cover" />
              )}
              <span className="min-w-0">
                <span className="block truncate" title={name}>
                  <VisibleText text={name} />
                </span>
                <span className="text-muted">{formatBytes(bytes)}</span>
              </span>
              <IconButton label={text.removeFile(name)} size="small" onClick={() => files.remove(id)}>
                <CloseIcon size={14} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function problemText(problem: FileProblem, { fileErrors }: ChatStrings): string {
  switch (problem.type) {
    case 'size':
      return fileErrors.size(problem.name, formatBytes(problem.limit));
    case 'total':
      return fileErrors.total(formatBytes(problem.limit));
    case 'count':
      return fileErrors.count(formatNumber(problem.limit));
    default:
      return fileErrors[problem.type](problem.name);
  }
}
