// Puts the reports about files below the git operation of the same block, as one entry: together they say what the model
// has to read again.
import { type Level, MESSAGE_LIMIT, worseLevel } from '../../protocol/notification.ts';
import { unsaidOrigin } from './format/blockText.ts';
import { type Entry, type Outline } from './outline.ts';

/** For the printed block only. An entry whose origin must be printed, or that makes it too long, stays alone. */
export function joinWithGit(outline: Outline): Outline {
  const { entries } = outline;
  const git = entries.filter(({ source, name }) => source === 'git' && name === 'head_changed');
  const [operation] = git;
  // Several repositories: it would not be clear which of them a file belongs to.
  if (operation === undefined || git.length > 1) return outline;
  const isFile = (entry: Entry) => entry.source === 'file' && unsaidOrigin(entry) === undefined;
  const files = entries.filter(isFile).sort((one, other) => one.position - other.position);
  let length = operation.message.length;
  const fitting = files.filter(({ message }) => {
    if (length + 1 + message.length > MESSAGE_LIMIT) return false;
    length += 1 + message.length;
    return true;
  });
  if (fitting.length === 0) return outline;
  const parts = [operation, ...fitting];
  const joined: Entry = {
    ...operation,
    level: parts.reduce<Level>((level, part) => worseLevel(level, part.level), 'info'),
    message: parts.map(({ message }) => message).join('\n'),
    count: 1,
  };
  const place = entries.findIndex((entry) => parts.includes(entry));
  const others = entries.filter((entry) => !parts.includes(entry));
  return { ...outline, entries: others.toSpliced(place, 0, joined) };
}
