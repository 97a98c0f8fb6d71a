module.exports = {
  zero: 0, negative: -1, plus: +2, decimal: 1.5, leading: .25, trailing: 5.,
  exponent: 1e3, negativeExponent: 25e-2, capital: 1E+2,
  hex: 0xFF, hexCapital: 0XfF, octal: 0o17, binary: 0b1010,
  separated: 1_000_000, separatedHex: 0xFF_FF, separatedFraction: 1_0.2_5,
  big: 9007199254740993, huge: 1e21, doubleNegative: - -3,
  negativeZero: 0 * 1, tiny: 5e-324,
};
