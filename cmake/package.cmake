# `cpack` in the build directory writes a Debian package: what `cmake --install` installs, below /usr. dpkg-shlibdeps
# finds the packages that its programs and libraries need.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME throughtime)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_CONTACT "the authors of throughtime")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# For `plot --svg`, and for programs that use the CMake package.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gnuplot-nox, libfmt-dev, libhwy-dev, zlib1g-dev, liblzma-dev, libmd-dev")
include(CPack)
