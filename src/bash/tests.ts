import { findCell, isNeverEmpty, type Scope } from './scope.ts'
import type { TestExpression } from './syntax.ts'
import { globToRegExp, isKnown, isShort, isUnknown, toRegExp } from './text.ts'
import { arithmeticWord, expandText } from './words.ts'

/** The truth of `[[ … ]]`; undefined where it hangs on something unknown. */
export function evaluateTest(expression: TestExpression, scope: Scope): boolean | undefined {
  switch (expression.type) {
    case 'TestGroup':
      return evaluateTest(expression.expression, scope)
    case 'TestNot': {
      const value = evaluateTest(expression.operand, scope)
      return value === undefined || expression.negations.length % 2 === 0 ? value : !value
    }
    case 'TestLogical': {
      const values = expression.operands.map(operand => evaluateTest(operand, scope))
      const decisive = expression.operator === '||'
      if (values.includes(decisive)) return decisive
      return values.includes(undefined) ? undefined : !decisive
    }
    case 'TestUnary':
      return testOne(expression.operator, expandText(expression.operand, scope, 'empty'), scope)
    case 'TestBinary':
      return testTwo(
        expandText(expression.left, scope, 'empty'),
        expression.operator,
        expandText(expression.right, scope, 'empty'),
        expression.right.text,
        scope,
      )
  }
}

/** The truth of `[ … ]`, given its words without the brackets. */
export function evaluateTestWords(words: readonly string[], scope: Scope): boolean | undefined {
  const or = words.indexOf('-o')
  if (or > 0 && words.length > 3)
    return either(evaluateTestWords(words.slice(0, or), scope), evaluateTestWords(words.slice(or + 1), scope))
  const and = words.indexOf('-a')
  if (and > 0 && words.length > 3) {
    const left = evaluateTestWords(words.slice(0, and), scope)
    const right = evaluateTestWords(words.slice(and + 1), scope)
    return negate(either(negate(left), negate(right)))
  }
  if (words[0] === '!' && words.length > 1) return negate(evaluateTestWords(words.slice(1), scope))
  const [first, second, third] = words
  if (first === undefined) return false
  if (second === undefined) return isKnown(first) ? first !== '' : isUnknown(first) ? undefined : true
  if (third === undefined) return testOne(first, second, scope)
  return words.length === 3 ? testTwo(first, second, third, undefined, scope) : undefined
}

function negate(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value
}

function either(a: boolean | undefined, b: boolean | undefined): boolean | undefined {
  if (a === true || b === true) return true
  return a === undefined || b === undefined ? undefined : false
}

function testOne(operator: string, operand: string, scope: Scope): boolean | undefined {
  if (operator === '-v') {
    const found = findCell(scope, operand)
    return found === 'unknown' || (found === 'unset' && scope.mayBeSet) ? undefined : found !== 'unset'
  }
  const isEmpty = operand === '' ? true : isUnknown(operand) && !isNeverEmpty(scope, operand) ? undefined : false
  if (operator === '-n') return negate(isEmpty)
  return operator === '-z' ? isEmpty : undefined
}

function testTwo(
  left: string,
  operator: string,
  right: string,
  writtenRight: string | undefined,
  scope: Scope,
): boolean | undefined {
  if (/^-(eq|ne|lt|le|gt|ge)$/.test(operator)) {
    const [a, b] = [arithmeticWord(left, scope), arithmeticWord(right, scope)]
    if (a === undefined || b === undefined) return undefined
    const holds = { '-eq': a === b, '-ne': a !== b, '-lt': a < b, '-le': a <= b, '-gt': a > b, '-ge': a >= b }
    return new Map(Object.entries(holds)).get(operator)
  }
  if (!isKnown(left) || !isKnown(right) || !isShort(left)) return undefined
  if (operator === '<') return left < right
  if (operator === '>') return left > right
  if (operator === '=~') return toRegExp(right)?.test(left)
  if (operator !== '=' && operator !== '==' && operator !== '!=') return undefined
  const isPattern = writtenRight !== undefined && !/["']/.test(writtenRight)
  const matches = isPattern ? globToRegExp(right, 'whole')?.test(left) : left === right
  return operator === '!=' ? negate(matches) : matches
}
