#include "ensemble/sha256.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("hashes are those of the examples of FIPS 180-4, of messages of no, one, several and many blocks") {
  CHECK(hex_text(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex_text(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex_text(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(
      hex_text(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                      "mnopqrstnopqrstu"))
      == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(hex_text(sha256(std::string(1'000'000, 'a')))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the padding is right for every length around the end of a block, and for bytes of any value") {
  CHECK(hex_text(sha256(std::string(55, '\0'))) == "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  CHECK(hex_text(sha256(std::string(56, '\0'))) == "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
  CHECK(hex_text(sha256(std::string(64, '\0'))) == "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
  CHECK(hex_text(sha256("\xbd")) == "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  CHECK(hex_text(sha256("\xc9\x8c\x8e\x55")) == "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504");
}

TEST_CASE("the remainder is that of the hash as one number, whose first byte is the most significant") {
  sha256_hash number{};
  number[31] = 7;
  CHECK(remainder(number, 5) == 2);
  number[30] = 1;  // 263
  CHECK(remainder(number, 5) == 3);
  CHECK(remainder(number, 1) == 0);
  number[0] = 255;
  CHECK(remainder(number, UINT32_MAX) == (0xff000000ull + 263) % UINT32_MAX);
}

}  // namespace troupe::test
