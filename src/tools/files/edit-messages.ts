/** Why a string could not be replaced, and what to do about it. */

const MAX_LISTED = 10;
const LINE_NUMBERS = /^ *\d+\t/m;

export function severalMessage(text: string, offsets: readonly number[]): string {
  const lines = offsets.slice(0, MAX_LISTED).map((offset) => lineNumber(text, offset));
  const more = offsets.length > MAX_LISTED ? ', …' : '';
  return (
    `old_string occurs ${offsets.length} times (lines ${lines.join(', ')}${more}). ` +
    'Add lines around it until it is unique, or set replace_all to replace every occurrence.'
  );
}

export function notFoundMessage(text: string, oldString: string): string {
  const message = 'old_string was not found in the file.';
  if (LINE_NUMBERS.test(oldString)) {
    return `${message} It seems to contain the line numbers that Read shows: leave them and the tab after them out.`;
  }
  const lines = similarLines(text, oldString);
  if (lines.length > 0) {
    const place = lines.length === 1 ? `line ${lines[0]}` : `lines ${lines.join(', ')}`;
    return `${message} Its first line is at ${place}, but with other indentation or other lines after it. Read there again and copy the text exactly.`;
  }
  return `${message} Read the file again and copy the text exactly, indentation included.`;
}

/** Lines that are the first line of `oldString` but for blanks around it. */
function similarLines(text: string, oldString: string): number[] {
  const first = oldString
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
  if (first === undefined) return [];
  const found: number[] = [];
  for (
    let at = text.indexOf(first);
    at !== -1 && found.length < 3;
    at = text.indexOf(first, at + first.length)
  ) {
    const start = text.lastIndexOf('\n', at - 1) + 1;
    const end = text.indexOf('\n', at);
    const line = text.slice(at === 0 ? 0 : start, end === -1 ? text.length : end);
    if (line.trim() === first) found.push(lineNumber(text, at));
  }
  return found;
}

function lineNumber(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
