/** The grammars, and where in a text the names, words and values of its language are. A chunk of its own. */
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import makefile from 'highlight.js/lib/languages/makefile';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';

const grammars = createLowlight({
  ...{ bash, c, cpp, css, diff, dockerfile, go, ini, java, javascript, json },
  ...{ makefile, python, rust, sql, typescript, xml, yaml },
});

export interface ScopeRange {
  /** One of those that `styles.css` has a colour for. */
  scope: string;
  /** In UTF-16 units. */
  from: number;
  to: number;
}

/** What the grammars call it, and the colour it has. */
const COLOURS: Readonly<Record<string, string>> = {
  keyword: 'keyword',
  built_in: 'type',
  type: 'type',
  literal: 'value',
  number: 'value',
  symbol: 'value',
  string: 'string',
  regexp: 'string',
  comment: 'comment',
  doctag: 'comment',
  meta: 'comment',
  title: 'name',
  section: 'name',
  attr: 'attribute',
  attribute: 'attribute',
  property: 'attribute',
  variable: 'attribute',
  tag: 'keyword',
  name: 'keyword',
  selector: 'keyword',
  addition: 'string',
  deletion: 'keyword',
};

type Grammar = ReturnType<typeof grammars.highlight>;
type Node = Grammar['children'][number];

/** In order, each inside of none of the others; none for a language that is not known. */
export function scopesOf(code: string, language: string): ScopeRange[] {
  const name = language.toLowerCase();
  if (!grammars.registered(name)) return [];
  const ranges: ScopeRange[] = [];
  let at = 0;
  const walk = (nodes: readonly Node[], scope: string | undefined): void => {
    for (const node of nodes) {
      if (node.type === 'text') {
        const from = at;
        at += node.value.length;
        if (scope !== undefined && at > from) ranges.push({ scope, from, to: at });
      } else if (node.type === 'element') walk(node.children.filter(isText), scopeOf(node) ?? scope);
    }
  };
  walk(grammars.highlight(name, code).children, undefined);
  return ranges;
}

function isText(node: Node | { type: 'comment' }): node is Node {
  return node.type === 'text' || node.type === 'element';
}

function scopeOf({ properties }: Extract<Node, { type: 'element' }>): string | undefined {
  const names = properties['className'];
  const [first] = Array.isArray(names) ? names : [];
  const kind = String(first ?? '').replace(/^hljs-/, '');
  return COLOURS[kind] ?? COLOURS[kind.split(/[-_]/)[0] ?? ''];
}
