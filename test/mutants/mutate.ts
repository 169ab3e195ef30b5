// Applies a mutant: replaces a text within one named symbol of a file.
import ts from 'typescript';

interface Change {
  /** A function, constant, class or member of a class: `print`, `LIMIT`, `Queue.#remove`, `Queue.constructor`. */
  readonly symbol: string;
  /** Must occur exactly once in the symbol; line breaks and blanks do not matter. */
  readonly find: string;
  readonly replace: string;
}

/** One change of the source that at least one test must detect. */
export interface Mutant extends Change {
  readonly name: string;
  readonly file: string;
  /** At least one test in these files must fail. */
  readonly tests: readonly string[];
}

/** The source with the change. Throws if there is no such symbol, or if the text does not occur in it exactly once. */
export function mutate(source: string, { symbol, find, replace }: Change): string {
  const declarations = declarationsOf(source, symbol);
  if (declarations.length === 0) throw new Error(`there is no ${symbol}`);
  const places = declarations.flatMap(({ start, end }) => {
    const matches = source.slice(start, end).matchAll(patternOf(find));
    return [...matches].map((match) => ({ start: start + match.index, length: match[0].length }));
  });
  const [place] = places;
  if (place === undefined || places.length > 1) {
    throw new Error(`its text occurs ${places.length} times in ${symbol}, not once`);
  }
  return source.slice(0, place.start) + replace + source.slice(place.start + place.length);
}

interface Declaration {
  readonly start: number;
  readonly end: number;
}

/** Several for a getter with its setter. */
function declarationsOf(source: string, symbol: string): Declaration[] {
  const parsed = ts.createSourceFile('mutated.ts', source, ts.ScriptTarget.Latest, true);
  const [name = '', member] = symbol.split('.');
  const found = parsed.statements.flatMap((statement): ts.Node[] => {
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.some((one) => one.name.getText() === name) ? [statement] : [];
    }
    if (!isNamed(statement, name)) return [];
    if (member === undefined) return [statement];
    return ts.isClassDeclaration(statement) ? statement.members.filter((one) => nameOfMember(one) === member) : [];
  });
  return found.map((node) => ({ start: node.getStart(), end: node.getEnd() }));
}

function isNamed(statement: ts.Statement, name: string): boolean {
  const isDeclaration = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
  return isDeclaration && statement.name?.text === name;
}

function nameOfMember(member: ts.ClassElement): string | undefined {
  return ts.isConstructorDeclaration(member) ? 'constructor' : member.name?.getText();
}

function patternOf(find: string): RegExp {
  const words = find.trim().split(/\s+/);
  return new RegExp(words.map((word) => RegExp.escape(word)).join('\\s+'), 'g');
}
